"""What was ordered, and what the supplier said to it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, encode_key
from contracts.partitions import choose_partition
from tests.services.memory import MemoryLog
from tests.services.serving import Answers

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
    api.await_read("/v1/orders", PURCHASE_ORDERS.name, orders)
    return api.await_read("/v1/orders", CONFIRMATIONS.name, answers)


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
