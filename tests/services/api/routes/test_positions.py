"""The inventory position of a shelf, review by review, is the one that the gate adds up."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import Any

import pytest

from contracts import PROPOSALS, PURCHASE_ORDERS, encode_key
from contracts.partitions import choose_partition
from contracts.times import to_epoch_ms
from services.ordering.decision import Proposal, Shelf, sum_positions
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.writing import Writing, promote

MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)
SHELF = Shelf("S003", "SKU-00417")
PATH = f"/v1/positions/{SHELF.store_id}/{SHELF.sku}"
MOVED = (50, -9, -12, -4, 0)
"""By day; the last two reviews are still to come."""
ORDERED = {1: 24, 2: 12}


@pytest.fixture
def reorder(log: MemoryLog) -> Writing:
    return Writing(log, pipeline="reorder", views=(PROPOSALS,))


def propose(reorder: Writing, day: int, moved: int, **other: Any) -> None:
    review_at = MIDNIGHT + timedelta(days=day)
    fields = {**SHELF._asdict(), "review_at": review_at, "moved_units": moved, **other}
    reorder.put(PROPOSALS, **fields)


def order(log: MemoryLog, day: int, units: int, **other: Any) -> None:
    review_at = MIDNIGHT + timedelta(days=day)
    times = {"review_at": review_at, "ordered_at": review_at + timedelta(minutes=2)}
    name = f"PO-{day}-{other.get('sku', '')}"
    changes = {**SHELF._asdict(), **times, "purchase_order_id": name, "units": units, **other}
    value = {**PURCHASE_ORDERS.examples[0], **changes}
    key = encode_key(PURCHASE_ORDERS, value)
    log.put(PURCHASE_ORDERS, value, choose_partition(key, PURCHASE_ORDERS.settings.partitions))


def read(log: MemoryLog, api: Answers, reorder: Writing, orders: int) -> Any:
    """The answer once the view is served and so many orders have been read."""
    reorder.mark()
    promote(log, reorder)
    api.ready(pipeline="reorder")

    def are_read(answer: Any) -> bool:
        ends = answer["orders_as_of"]["inputs"].get(PURCHASE_ORDERS.name, [0])
        return bool(sum(ends) == orders)

    return api.eventually(PATH, are_read)


def test_the_position_of_each_review_is_what_the_gate_adds_up(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    for day, moved in enumerate(MOVED):
        propose(reorder, day, moved)
        propose(reorder, day, 100, sku="ANOTHER")
    for day, units in ORDERED.items():
        order(log, day, units)
        order(log, day, 500, sku="ANOTHER")
    items = read(log, api, reorder, 4)["items"]
    reviews = [to_epoch_ms(MIDNIGHT + timedelta(days=day)) for day in range(len(MOVED))]
    proposals = [
        Proposal(SHELF, review_ms, moved, 38, 62, 12, 2)
        for review_ms, moved in zip(reviews, MOVED, strict=True)
    ]
    ordered = [(SHELF, reviews[day], units) for day, units in ORDERED.items()]
    assert [position["position_units"] for position in items] == [
        sum_positions(review_ms, proposals, ordered)[SHELF] for review_ms in reviews
    ]
    assert [position["ordered_units"] for position in items] == [0, 24, 12, 0, 0]
    assert [position["moved_units"] for position in items] == list(MOVED)
    assert {
        (position["reorder_point_units"], position["order_up_to_units"]) for position in items
    } == {(38, 62)}
    assert {position["measure"] for position in items} == {None}
    assert all(before["review_at"] < after["review_at"] for before, after in pairwise(items))


def test_units_of_a_weighed_product_say_what_of_and_a_shelf_without_a_review_is_unknown(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    propose(reorder, 0, -8_150, pack_size_units=12_500, measure="kilogram")
    [item] = read(log, api, reorder, 0)["items"]
    assert (item["moved_units"], item["measure"]) == (-8_150, "kilogram")
    answer = api.get("/v1/positions/S003/NOTHING")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert "S003/NOTHING" in answer.json()["detail"]


def test_a_shelf_whose_first_reviews_are_dropped_has_no_known_position(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    assert PROPOSALS.retention is not None
    kept = PROPOSALS.retention.days
    for day in range(kept):
        propose(reorder, day, 5)
    whole = read(log, api, reorder, 0)["items"]
    assert [position["position_units"] for position in whole] == [
        5 * day for day in range(1, kept + 1)
    ]
    for day in (kept, kept + 1):
        propose(reorder, day, 5)
    api.ready(reorder.mark(), pipeline="reorder")
    positions = api.json(PATH)["items"]
    assert len(positions) == kept + 1
    assert {position["position_units"] for position in positions} == {None}
    assert {position["moved_units"] for position in positions} == {5}
