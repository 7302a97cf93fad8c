"""Prices: announced ahead, and paid from the moment they hold."""

from contracts import PRICE_CHANGES, RECEIPTS
from generators.ticks import HOUR_MS, START_MS
from tests.generators.worlds import CLEAN, publish_world

HOURS = 96


def group_prices() -> dict[str, list[tuple[int, int]]]:
    """By sku: from when on it costs what, the first price first."""
    by_sku: dict[str, list[tuple[int, int]]] = {}
    for change in publish_world(CLEAN, PRICE_CHANGES, HOURS):
        by_sku.setdefault(change["sku"], []).append((change["effective_at"], change["price_cents"]))
    return by_sku


def test_every_product_has_a_price_when_the_world_begins() -> None:
    prices = group_prices()
    assert len(prices) == CLEAN.products
    assert {of_sku[0][0] for of_sku in prices.values()} == {START_MS}


def test_now_and_then_a_price_changes_and_is_announced_well_before() -> None:
    later = [
        one for one in publish_world(CLEAN, PRICE_CHANGES, HOURS) if one["event_time"] > START_MS
    ]
    assert 0 < len(later) < CLEAN.products
    assert all(one["effective_at"] - one["event_time"] >= 12 * HOUR_MS for one in later)


def test_every_receipt_has_the_prices_of_its_moment() -> None:
    prices = group_prices()
    changed_and_sold = 0
    for receipt in publish_world(CLEAN, RECEIPTS, HOURS):
        for line in receipt["lines"]:
            holding = [
                cents for since, cents in prices[line["sku"]] if since <= receipt["event_time"]
            ]
            assert line["unit_price_cents"] == holding[-1]
            changed_and_sold += len(holding) > 1
    assert changed_and_sold
