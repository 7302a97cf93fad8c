"""Prices, promotions and seasons: announced ahead, paid and bought while they hold."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from contracts import PRICE_CHANGES, PROMOTIONS, RECEIPTS
from generators.event import Event
from generators.parameters import Refill
from generators.prices import DECIDED_AT_HOUR
from generators.promotions import NOTICE_DAYS, Promotions
from generators.shelves import SPARE_DAYS
from generators.ticks import ANNOUNCED_MS, HOUR_MS, START_MS
from generators.world import World
from tests.generators.worlds import CLEAN, publish_world

DAYS, QUIET_DAYS = 10, 24
HOURS = 24 * DAYS
QUIET = replace(CLEAN, stores=1, receipts_per_minute=0.1)
"""What is promoted and priced does not depend on who comes."""
WIDE = replace(CLEAN, products=400, receipts_per_minute=1_200.0)
"""Some products are promoted in its first days, and many come."""
DRAWN = Promotions(CLEAN.seed, CLEAN.products)
MIDNIGHT_MS = START_MS - 8 * HOUR_MS


def find_day(at_ms: int) -> int:
    return (at_ms - MIDNIGHT_MS) // (24 * HOUR_MS)


def render_sku(product: int) -> str:
    return f"SKU-{product:05d}"


def group_prices() -> dict[str, list[tuple[int, int]]]:
    """By sku: from when on it costs what, the first price first."""
    by_sku: dict[str, list[tuple[int, int]]] = {}
    for change in publish_world(QUIET, PRICE_CHANGES, 24 * QUIET_DAYS):
        by_sku.setdefault(change["sku"], []).append((change["effective_at"], change["price_cents"]))
    return by_sku


def find_price(sku: str, at_ms: int) -> int:
    return [cents for since, cents in group_prices()[sku] if since <= at_ms][-1]


def test_every_receipt_has_the_prices_of_its_moment() -> None:
    prices = group_prices()
    changed_and_sold = 0
    for receipt in publish_world(CLEAN, RECEIPTS, HOURS):
        for line in receipt["lines"]:
            of_sku = prices[line["sku"]]
            holding = [cents for since, cents in of_sku if since <= receipt["event_time"]]
            assert line["unit_price_cents"] == holding[-1]
            changed_and_sold += len(holding) > 1
    assert changed_and_sold


def publish_plans() -> tuple[Event, ...]:
    return publish_world(QUIET, PROMOTIONS, 24 * QUIET_DAYS)


def test_every_promotion_is_planned_and_no_other() -> None:
    planned = {
        (plan["sku"], day)
        for plan in publish_plans()
        for day in range(find_day(plan["starts_at"]), find_day(plan["ends_at"]))
    }
    days = range(QUIET_DAYS)
    drawn = {(render_sku(product), day) for day in days for product in DRAWN.list_running(day)}
    assert drawn
    assert {(sku, day) for sku, day in planned if day < QUIET_DAYS} == drawn


def test_a_plan_is_known_six_days_before_or_from_the_beginning_on() -> None:
    early = [plan for plan in publish_plans() if find_day(plan["starts_at"]) <= NOTICE_DAYS]
    later = [plan for plan in publish_plans() if find_day(plan["starts_at"]) > NOTICE_DAYS]
    assert early
    assert later
    for plan in early:
        assert (plan["event_time"], plan["effective_at"]) == (ANNOUNCED_MS, START_MS)
    for plan in later:
        known_ms = plan["starts_at"] - NOTICE_DAYS * 24 * HOUR_MS
        decided_ms = known_ms - (24 - DECIDED_AT_HOUR) * HOUR_MS
        assert (plan["event_time"], plan["effective_at"]) == (decided_ms, known_ms)


def test_the_prices_of_a_plan_are_those_that_come() -> None:
    """Price changes around a promotion do not alter its prices."""
    over = [plan for plan in publish_plans() if find_day(plan["ends_at"]) < QUIET_DAYS]
    assert over
    for plan in over:
        edges = plan["starts_at"], plan["ends_at"]
        prices = [find_price(plan["sku"], at_ms) for start in edges for at_ms in (start - 1, start)]
        usual, promoted = plan["usual_price_cents"], plan["price_cents"]
        assert prices == [usual, promoted, promoted, usual]
        assert promoted < 0.9 * usual


def test_shelves_that_wait_for_orders_open_with_what_promotions_sell_until_goods_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lifted, by_vans = open_shelves("orders"), open_shelves("vans")
    expected = {
        product.sku
        for number, product in enumerate(World(WIDE).products)
        if any(
            number in Promotions(WIDE.seed, WIDE.products).list_running(day)
            for day in range(-(-product.lead_time_hours // 24) + SPARE_DAYS)
        )
    }
    monkeypatch.setattr("generators.promotions.STARTED_SHARE", 0.0)
    usual = open_shelves("orders")
    higher = {sku for sku, units in lifted.items() if units > usual[sku]}
    assert higher
    assert higher == expected & lifted.keys()
    assert by_vans == open_shelves("vans")


def open_shelves(refill: Refill) -> Mapping[str, int]:
    """Units on the shelves of the first minute, in a world where many come."""
    world = World(replace(WIDE, refill=refill))
    world.tick()
    return world.count_units(world.store_ids[0])


def test_more_is_sold_of_what_is_promoted() -> None:
    """Against the same product on its other days."""
    sold: Counter[tuple[str, int]] = Counter()
    for receipt in publish_world(CLEAN, RECEIPTS, HOURS):
        for line in receipt["lines"]:
            sold[line["sku"], find_day(receipt["event_time"])] += line["units"]
    promoted, usual = [], []
    full_days = range(1, DAYS)
    for product in range(CLEAN.products):
        on = [day for day in full_days if product in DRAWN.list_running(day)]
        off = [day for day in full_days if day not in on]
        if on:
            promoted.append(sum(sold[render_sku(product), day] for day in on) / len(on))
            usual.append(sum(sold[render_sku(product), day] for day in off) / len(off))
    assert sum(promoted) > 1.5 * sum(usual)
