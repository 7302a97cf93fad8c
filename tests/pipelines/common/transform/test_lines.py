"""The lines of an event have one shape, and each says whether it is the first of its key."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, RECEIPTS, SHIPMENTS, Contract
from contracts.lines import LINES, Key, Line
from contracts.projection import Path
from pipelines.common.transform.validate import name_mark, validate
from tests.pipelines.log import adjustment, create_log, delivery, receipt
from tests.replay.hostile import PLANES
from tests.seeds import create_random

pytestmark = pytest.mark.spark

SIZES = (1, 2, 3, 31, 32, 33, 320, 1_000)
FIELDS: Mapping[Contract, Collection[Path]] = {
    RECEIPTS: [(LINES, "sku"), (LINES, "units")],
    SHIPMENTS: [(LINES, "sku"), (LINES, "dispatched_units"), (LINES, "received_units")],
    ADJUSTMENTS: [("sku",), ("units",)],
}


def list_lines(
    spark: SparkSession, keys: Sequence[Key], *events: Any
) -> list[list[dict[str, Any]]]:
    """The lines of each event, in order."""
    line = replace(Line.of("mine", FIELDS), keys=tuple(keys))
    rows = validate(FIELDS, create_log(spark, *events).coalesce(1), line).select(LINES).collect()
    return [[struct.asDict() for struct in row[LINES]] for row in rows]


def find_firsts(values: Iterable[Any]) -> list[bool]:
    """Of each value whether it is the first one that equals it."""
    seen: set[Any] = set()
    firsts = []
    for value in values:
        firsts.append(value not in seen)
        seen.add(value)
    return firsts


def test_lines_have_the_same_fields_whatever_the_topic(spark: SparkSession) -> None:
    names = ("sku", "units", "dispatched_units", "received_units")
    sold, delivered, adjusted = list_lines(
        spark, (), receipt(("A", 2), ("B", 3)), delivery(("A", 5, 4)), adjustment(7, "C")
    )
    expected = [("A", 2, None, None), ("B", 3, None, None)]
    assert sold == [dict(zip(names, values, strict=True)) for values in expected]
    assert delivered == [dict(zip(names, ("A", None, 5, 4), strict=True))]
    assert adjusted == [dict(zip(names, ("C", 7, None, None), strict=True))]


def test_the_first_line_of_a_key_is_marked_in_short_events_and_in_long_ones(
    spark: SparkSession,
) -> None:
    chance = create_random("lines")
    events = [
        [
            (chance.choice([*PLANES, *map(str, range(chance.choice((1, 3, size))))]), units)
            for units in chance.choices((1, 2), k=size)
        ]
        for size in SIZES
        for _ in range(3)
    ]
    keys = (("sku",), ("sku", "units"))
    found = list_lines(spark, keys, *(receipt(*lines) for lines in events))
    marks = [[[line[name_mark(key)] for line in lines] for key in keys] for lines in found]
    assert marks == [[find_firsts(sku for sku, _ in lines), find_firsts(lines)] for lines in events]
