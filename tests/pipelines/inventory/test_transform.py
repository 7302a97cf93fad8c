"""Shelves after hand-drawn events."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipelines.inventory.pipeline import PIPELINE
from tests.pipelines.log import (
    OPENING,
    Event,
    adjustment,
    build_log,
    compute_rows,
    delivery,
    dispatch,
    receipt,
    refund,
    shipment,
)

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)

Shelf = Mapping[str, int | datetime]
"""Some fields of a shelf; of units without the prefix."""


def of_a(**fields: int) -> Mapping[str, Shelf]:
    return {"A": fields}


EXAMPLES: Mapping[str, tuple[list[Event], Mapping[str, Shelf]]] = {
    "a sale takes units off the shelf": (
        [adjustment(5), receipt(("A", 2))],
        of_a(on_hand=3, adjusted=5, sold=2, version=2),
    ),
    "more sold than accounted for leaves a negative shelf": ([receipt(("A", 2))], of_a(on_hand=-2)),
    "a refund counts with its receipt and without": (
        [
            receipt(("A", 2), event_id="R-of-A"),
            refund(receipt_event_id="R-of-A"),
            refund(receipt_event_id=None),
        ],
        of_a(on_hand=0, refunded=2),
    ),
    "a refund read before its receipt counts all the same": (
        [refund(receipt_event_id="R-of-B"), receipt(event_id="R-of-B")],
        of_a(on_hand=0, version=2),
    ),
    "a delivery puts on the shelf what was in transit": (
        [dispatch(("A", 12)), delivery(("A", 12, 12))],
        of_a(on_hand=12, in_transit=0, received=12),
    ),
    "a delivery closes its own shipment and no other": (
        [dispatch(("A", 12)), dispatch(("A", 24)), delivery(("A", 12, 11))],
        of_a(on_hand=11, in_transit=24),
    ),
    "a delivery whose dispatch is missing leaves transit negative": (
        [delivery(("A", 12, 12))],
        of_a(in_transit=-12),
    ),
    "a delivery received before its dispatch is read closes it too": (
        [delivery(("A", 12, 12), happens=60 * MINUTE), dispatch(("A", 12), after=119 * MINUTE)],
        of_a(on_hand=12, in_transit=0),
    ),
    "a dispatch published beyond the horizon is closed without having counted": (
        [dispatch(("A", 12), after=121 * MINUTE), delivery(("A", 12, 12), happens=60 * MINUTE)],
        of_a(on_hand=12, in_transit=-12),
    ),
    "a dispatch that claims received units receives nothing": (
        [shipment("dispatched", ("A", 12, 12))],
        of_a(on_hand=0, in_transit=12),
    ),
    "a sku on two lines of a delivery is one event": (
        [delivery(("A", 6, 6), ("B", 1, 1), ("A", 6, 4))],
        {**of_a(received=10, in_transit=-12, version=1), "B": {"received": 1}},
    ),
    "a shipment of a status nobody knows moves nothing": ([shipment("lost", ("A", 12, 12))], {}),
    "on hand is received, adjusted and refunded less sold": (
        [
            adjustment(5),
            receipt(("A", 3)),
            refund(("A", 1)),
            dispatch(("A", 9)),
            delivery(("A", 9, 8)),
        ],
        of_a(on_hand=8 + 5 + 1 - 3, version=5),
    ),
    "a sku on two lines adds up and is still one event": (
        [receipt(("A", 1), ("B", 1), ("A", 2))],
        {**of_a(sold=3, version=1), "B": {"sold": 1}},
    ),
    "the same event twice counts once": (
        [receipt(event_id="twice"), receipt(event_id="twice", after=MINUTE)],
        of_a(sold=1, version=1),
    ),
    "what is published beyond the horizon is not applied": (
        [adjustment(5), receipt(after=121 * MINUTE)],
        of_a(on_hand=5, version=1),
    ),
    "what is late within the horizon is applied": (
        [adjustment(5), receipt(after=120 * MINUTE)],
        of_a(on_hand=4),
    ),
    "a shelf knows when its first and last events happened": (
        [receipt(happens=minute * MINUTE) for minute in (7, 3, 5)],
        {"A": {"first_event_time": OPENING + 3 * MINUTE, "last_event_time": OPENING + 7 * MINUTE}},
    ),
}


@pytest.fixture(scope="module")
def stores(spark: SparkSession) -> Mapping[str, list[dict[str, Any]]]:
    """The shelves of each example, which has a store of its own."""
    names = {f"S{number:03d}": example for number, example in enumerate(EXAMPLES)}
    events = [
        replace(event, fields={**event.fields, "store_id": store_id})
        for store_id, name in names.items()
        for event in EXAMPLES[name][0]
    ]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in EXAMPLES}
    for row in compute_rows(spark, PIPELINE, build_log(*events)).values():
        found[names[row["store_id"]]].append(row)
    return found


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_shelf_is_what_its_events_leave(
    stores: Mapping[str, list[dict[str, Any]]], example: str
) -> None:
    _, expected = EXAMPLES[example]
    shelves = {
        row["sku"]: {name.removeprefix("units_"): value for name, value in row.items()}
        for row in stores[example]
    }
    assert shelves.keys() == expected.keys()
    for sku, fields in expected.items():
        assert {name: shelves[sku][name] for name in fields} == fields
