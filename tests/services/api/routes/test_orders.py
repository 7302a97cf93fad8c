"""What was ordered, what the supplier said to it, and the position of a shelf at each review."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import Any

import pytest

from contracts import CONFIRMATIONS, PROPOSALS, PURCHASE_ORDERS, encode_key
from contracts.partitions import choose_partition
from services.ordering.decision import Shelf
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem
from tests.services.writing import Writing, promote

MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)


def order(log: MemoryLog, name: str, store: str, sku: str, day: float, **other: Any) -> None:
    review_at = MIDNIGHT + timedelta(days=day)
    shelf = {"purchase_order_id": name, "store_id": store, "sku": sku}
    times = {"review_at": review_at, "ordered_at": review_at + timedelta(minutes=2)}
    value = {**PURCHASE_ORDERS.examples[0], **shelf, **times, **other}
    key = encode_key(PURCHASE_ORDERS, value)
    log.put(PURCHASE_ORDERS, value, choose_partition(key, PURCHASE_ORDERS.settings.partitions))


def confirm(log: MemoryLog, name: str, **other: Any) -> None:
    log.put(CONFIRMATIONS, {**CONFIRMATIONS.examples[0], "purchase_order_id": name, **other})


@pytest.fixture
def ordered(log: MemoryLog, api: Answers) -> Answers:
    """Three orders of two reviews; the supplier has answered the first."""
    order(log, "PO-1", "S001", "A", day=0)
    order(log, "PO-2", "S001", "B", day=1)
    order(log, "PO-3", "S002", "A", day=1)
    confirm(log, "PO-1", shipped_units=12)
    return read(api, 3, 1)


def read(api: Answers, orders: int, answers: int) -> Answers:
    """The API, once it has read so many orders and confirmations."""
    wanted = {PURCHASE_ORDERS.name: orders, CONFIRMATIONS.name: answers}
    api.eventually(
        "/v1/orders",
        lambda answer: all(
            sum(answer["as_of"]["inputs"].get(name, ())) == end for name, end in wanted.items()
        ),
    )
    return api


def list_ids(page: Any) -> list[str]:
    return [order["purchase_order_id"] for order in page["items"]]


def test_a_world_that_orders_nothing_has_no_orders(api: Answers) -> None:
    page = api.eventually("/v1/orders", bool)
    assert (page["items"], page["next"]) == ([], None)


def test_the_newest_review_comes_first_each_order_beside_its_answer_once_there_is_one(
    ordered: Answers, log: MemoryLog
) -> None:
    page = ordered.json("/v1/orders")
    assert list_ids(page) == ["PO-3", "PO-2", "PO-1"]
    assert page["items"][0]["review_at"] == "2026-03-04T00:00:00.000Z"
    assert sum(page["as_of"]["inputs"][PURCHASE_ORDERS.name]) == 3
    *_, unanswered, answered = (order["confirmation"] for order in page["items"])
    assert (answered["shipped_units"], answered["arrives_at"]) == (12, "2026-03-06T00:02:00.000Z")
    assert unanswered is None
    confirm(log, "PO-2", shipped_units=0)
    [late] = read(ordered, 3, 2).json("/v1/orders", sku="B")["items"]
    assert late["confirmation"]["shipped_units"] == 0


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"store_id": "S001"}, ["PO-2", "PO-1"]),
        ({"sku": "A"}, ["PO-3", "PO-1"]),
        ({"store_id": "S001", "sku": "A"}, ["PO-1"]),
        ({"store_id": "S009"}, []),
    ],
)
def test_a_shelf_is_found_by_its_store_and_its_product(
    ordered: Answers, filters: dict[str, str], wanted: list[str]
) -> None:
    assert list_ids(ordered.json("/v1/orders", **filters)) == wanted


def test_an_order_that_is_there_twice_is_one(log: MemoryLog, ordered: Answers) -> None:
    order(log, "PO-1", "S001", "A", day=0, units=999 * 12)
    confirm(log, "PO-1", shipped_units=0)
    [row] = read(ordered, 4, 2).json("/v1/orders", store_id="S001", sku="A")["items"]
    assert (row["units"], row["confirmation"]["shipped_units"]) == (24, 12)


SHELF = Shelf("S003", "SKU-00417")
PATH = f"/v1/positions/{SHELF.store_id}/{SHELF.sku}"
MOVED = (50, -9, -12, -4, 0)
"""By day; the last two reviews are still to come."""
ORDERED = {1: 24, 2.5: 12}
"""By day: in answer to a review, and to a minute at noon."""
POSITIONS = (50, 50 - 9, 50 - 9 - 12 + 24, 50 - 9 - 12 - 4 + 24 + 12, 50 - 9 - 12 - 4 + 24 + 12)


@pytest.fixture
def reorder(log: MemoryLog) -> Writing:
    return Writing(log, pipeline="reorder", views=(PROPOSALS,))


def propose(reorder: Writing, day: int, moved: int, **other: Any) -> None:
    review_at = MIDNIGHT + timedelta(days=day)
    fields = {**SHELF._asdict(), "review_at": review_at, "moved_units": moved, **other}
    reorder.put(PROPOSALS, **fields)


def read_positions(log: MemoryLog, api: Answers, reorder: Writing, orders: int) -> Any:
    """The answer once the view is served and so many orders have been read."""
    reorder.mark()
    promote(log, reorder)
    read(api.ready(pipeline="reorder"), orders, 0)
    answer = api.json(PATH)
    assert sum(answer["orders_as_of"]["inputs"].get(PURCHASE_ORDERS.name, ())) == orders
    return answer


def test_the_position_of_each_review_is_what_the_gate_adds_up(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    for day, moved in enumerate(MOVED):
        propose(reorder, day, moved)
        propose(reorder, day, 100, sku="ANOTHER")
    for number, (moment, units) in enumerate(ORDERED.items()):
        order(log, f"PO-{number}", *SHELF, moment, units=units)
        order(log, f"PO-{number}-other", SHELF.store_id, "ANOTHER", moment, units=500)
    items = read_positions(log, api, reorder, 4)["items"]
    assert [review["position_units"] for review in items] == [*POSITIONS]
    assert [review["ordered_units"] for review in items] == [0, 24, 12, 0, 0]
    assert [review["moved_units"] for review in items] == list(MOVED)
    levels = {(review["reorder_point_units"], review["order_up_to_units"]) for review in items}
    assert levels == {(38, 62)}
    assert {review["measure"] for review in items} == {None}
    assert all(before["review_at"] < after["review_at"] for before, after in pairwise(items))


def test_units_of_a_weighed_product_say_what_of_and_a_shelf_without_a_review_is_unknown(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    propose(reorder, 0, -8_150, pack_size_units=12_500, measure="kilogram")
    [item] = read_positions(log, api, reorder, 0)["items"]
    assert (item["moved_units"], item["measure"]) == (-8_150, "kilogram")
    unknown = api.get("/v1/positions/S003/NOTHING")
    check_problem(unknown, HTTPStatus.NOT_FOUND, "No review of the shelf", "S003/NOTHING")


def test_a_shelf_whose_first_reviews_are_dropped_has_no_known_position(
    log: MemoryLog, api: Answers, reorder: Writing
) -> None:
    assert PROPOSALS.retention is not None
    kept = PROPOSALS.retention.days
    for day in range(kept):
        propose(reorder, day, 5)
    whole = read_positions(log, api, reorder, 0)["items"]
    assert [review["position_units"] for review in whole] == [5 * day for day in range(1, kept + 1)]
    for day in (kept, kept + 1):
        propose(reorder, day, 5)
    api.ready(reorder.mark(), pipeline="reorder")
    positions = api.json(PATH)["items"]
    assert len(positions) == kept + 1
    assert {review["position_units"] for review in positions} == {None}
    assert {review["moved_units"] for review in positions} == {5}
