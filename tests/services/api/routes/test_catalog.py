"""What products, stores and suppliers are called now, from the log."""

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest

from contracts import PRICE_CHANGES, PRODUCTS, STORES, Contract
from contracts.times import to_epoch_ms
from services.api.routes.catalog import SKUS_MAX
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem
from tests.services.world import NOON, announce

DAY = timedelta(days=1)


def change(log: MemoryLog, contract: Contract, effective_at: datetime, **fields: Any) -> None:
    """A change that is published a day before it holds."""
    times = {"event_time": effective_at - DAY, "effective_at": effective_at}
    subject = "-".join(str(value) for value in fields.values())
    value = {**contract.examples[0], "event_id": subject, **times, **fields}
    log.put(contract, value, published_ms=to_epoch_ms(value["event_time"]))


@pytest.fixture
def stocked(log: MemoryLog, api: Answers) -> Answers:
    """At noon A has got its second name, a third is announced, and C is not sold yet."""
    announce(log)
    change(log, PRODUCTS, NOON - 2 * DAY, sku="A", name="Pears", supplier_id="SUP-1")
    change(log, PRODUCTS, NOON - DAY, sku="A", name="Ripe pears", supplier_id="SUP-2")
    change(log, PRODUCTS, NOON + DAY, sku="A", name="Old pears", supplier_id="SUP-3")
    bread = {"category": "bakery", "supplier_id": "SUP-2", "lead_time_hours": 5}
    change(log, PRODUCTS, NOON, sku="B", name="Rye bread", **bread)
    change(log, PRODUCTS, NOON + DAY, sku="C", name="Cake", supplier_id="SUP-9")
    change(log, PRICE_CHANGES, NOON - DAY, sku="A", price_cents=120)
    change(log, PRICE_CHANGES, NOON + DAY, sku="A", price_cents=90)
    change(log, STORES, NOON - DAY, store_id="S001", name="Leeds, Mill Lane", currency="GBP")
    change(log, STORES, NOON - DAY, store_id="S002", name="Cork, Quay", currency=None)
    api.await_read("/v1/stores", STORES.name, 2)
    return api.await_read("/v1/products", PRODUCTS.name, 5).await_read(
        "/v1/products", PRICE_CHANGES.name, 2
    )


def test_a_product_is_what_its_last_change_that_holds_says_and_costs_what_it_costs_now(
    stocked: Answers,
) -> None:
    pears, bread = stocked.json("/v1/products")["items"]
    assert pears == {
        "sku": "A",
        "name": "Ripe pears",
        "category": "biscuits",
        "supplier_id": "SUP-2",
        "unit_cost_cents": 120,
        "pack_size_units": 12,
        "measure": None,
        "price_cents": 120,
        "lead_time_days": 2,
        "lead_time_hours": None,
    }
    assert (bread["name"], bread["price_cents"]) == ("Rye bread", None)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("q=BREAD", ["B"]),
        ("q=bakery", ["B"]),
        ("q=b", ["A", "B"]),  # biscuits
        ("q=old", []),
        ("sku=A", ["A"]),
        ("sku=A&sku=B&sku=C", ["A", "B"]),
    ],
)
def test_products_are_found_by_name_category_and_sku(
    stocked: Answers, query: str, wanted: list[str]
) -> None:
    assert [item["sku"] for item in stocked.json(f"/v1/products?{query}")["items"]] == wanted


def test_no_more_skus_are_asked_for_at_once_than_a_page_has(stocked: Answers) -> None:
    many = "sku=A" + "&sku=x" * (SKUS_MAX - 1)
    assert len(stocked.json(f"/v1/products?{many}")["items"]) == 1
    refused = stocked.get(f"/v1/products?{many}&sku=x")
    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_a_store_has_its_name_and_its_currency_if_it_says_one(stocked: Answers) -> None:
    items = stocked.json("/v1/stores")["items"]
    assert [(item["store_id"], item["name"], item["currency"]) for item in items] == [
        ("S001", "Leeds, Mill Lane", "GBP"),
        ("S002", "Cork, Quay", None),
    ]


def test_a_supplier_has_the_products_that_it_delivers_now(stocked: Answers, log: MemoryLog) -> None:
    [supplier] = stocked.json("/v1/suppliers")["items"]
    assert supplier == {
        "supplier_id": "SUP-2",
        "products": 2,
        "lead_time_hours_min": 48,
        "lead_time_hours_max": 53,
    }


def test_before_there_is_a_clock_nobody_knows_what_holds(api: Answers) -> None:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    check_problem(api.get("/v1/products"), status, "No world clock")
