"""A world that is filled by orders, and how often each order is ordered, confirmed and shipped."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, SHIPMENTS, Contract, decode
from contracts.validation import Rejection, validate
from infra.wait import wait_until
from ops.verify.log import read_topic
from tests.e2e.shop import Shop

Row = dict[str, Any]

WORLD = {
    "simulator_refill": "orders",
    "simulator_speed": 1_200,  # a day in 72 seconds
    "simulator_stores": 2,
    "simulator_products": 60,
    "simulator_receipts_per_second": 0.25,
    # Nothing is published twice on purpose, so a repeated record is a repeated order or shipment.
    "simulator_dirt": 0.0,
}
SECONDS_MAX = 400.0


def await_soon(condition: Any, what: str) -> None:
    wait_until(lambda: bool(condition()), what, SECONDS_MAX)


def check_each_step_is_taken_once(shop: Shop) -> None:
    """Nothing is ordered, confirmed, dispatched or received twice, or without the step before."""
    shipped = count_steps(shop)  # later steps first
    confirmed, ordered = (
        count_order_ids(shop, CONFIRMATIONS),
        count_order_ids(shop, PURCHASE_ORDERS),
    )
    for ids in (*shipped.values(), confirmed, ordered):
        assert ids
        assert not [each for each, times in ids.items() if times > 1]
    assert all(ids.keys() <= confirmed.keys() for ids in shipped.values())
    assert confirmed.keys() <= ordered.keys()


def read_rows(shop: Shop, contract: Contract) -> list[Row]:
    """The committed records of the topic."""
    records = read_topic(shop.settings, contract.name)
    return [dict(decode(record.value).value) for record in records]


def count_order_ids(shop: Shop, contract: Contract) -> Counter[str]:
    """The number of records of each order in the topic, by its id."""
    return Counter(row["purchase_order_id"] for row in read_rows(shop, contract))


def find_reviews(shop: Shop) -> set[Any]:
    return {order["review_at"] for order in read_rows(shop, PURCHASE_ORDERS)}


def read_shipments(shop: Shop) -> Iterator[Row]:
    """The accepted ones."""
    for record in read_topic(shop.settings, SHIPMENTS.name):
        verdict = validate(SHIPMENTS, record.key, record.value, record.published_ms)
        if not isinstance(verdict, Rejection):
            yield dict(verdict)


def count_steps(shop: Shop) -> dict[str, Counter[str]]:
    """By status, the number of shipments of each order."""
    counts: dict[str, Counter[str]] = {"dispatched": Counter(), "received": Counter()}
    for shipment in read_shipments(shop):
        counts[shipment["status"]][shipment["purchase_order_id"]] += 1
    return counts


def list_arrived(shop: Shop) -> list[tuple[str, int]]:
    """The shelves that received goods, and how many units."""
    return [
        (f"{shipment['store_id']}/{line['sku']}", line["received_units"])
        for shipment in read_shipments(shop)
        for line in shipment["lines"]
        if line["received_units"]
    ]
