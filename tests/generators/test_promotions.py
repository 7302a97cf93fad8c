"""Promotions: planned ahead, cheaper while they hold, bought more, and over again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from contracts import PRICE_CHANGES, PROMOTIONS, RECEIPTS
from generators.event import Event
from generators.parameters import Refill
from generators.prices import DAYS_MAX, DAYS_MIN, DECIDED_AT_HOUR, NOTICE_DAYS, Promotions
from generators.ticks import ANNOUNCED_MS, HOUR_MS, START_MS
from generators.world import World
from tests.generators.worlds import CLEAN, publish_world

DAYS, QUIET_DAYS = 10, 24
HOURS = 24 * DAYS
QUIET = replace(CLEAN, stores=1, receipts_per_minute=0.1)
"""What is promoted and priced does not depend on who comes."""
DRAWN = Promotions(CLEAN.seed, CLEAN.products)
MIDNIGHT_MS = START_MS - 8 * HOUR_MS


def find_day(at_ms: int) -> int:
    return (at_ms - MIDNIGHT_MS) // (24 * HOUR_MS)


def render_sku(product: int) -> str:
    return f"SKU-{product:05d}"


def test_no_promotion_holds_before_it_can_be_announced() -> None:
    assert not DRAWN.list_running(0)
    assert any(DRAWN.list_running(day) for day in range(1, DAYS))


def test_promotions_last_some_days_and_end() -> None:
    promotions = Promotions(seed=5, products=200)
    for product in range(200):
        on = [product in promotions.list_running(day) for day in range(60)]
        turns = [day for day, (before, after) in enumerate(pairwise(on)) if before != after]
        for began, ended in zip(turns[::2], turns[1::2], strict=False):
            assert DAYS_MIN <= ended - began <= DAYS_MAX


def test_a_promoted_product_is_announced_cheaper_and_usual_again_afterwards() -> None:
    changes = {
        (change["sku"], find_day(change["effective_at"])): change["price_cents"]
        for change in publish_world(CLEAN, PRICE_CHANGES, HOURS)
    }
    begun = 0
    for day in range(1, DAYS - 1):
        today, tomorrow = DRAWN.list_running(day), DRAWN.list_running(day + 1)
        for product in tomorrow.keys() - today.keys():
            usual = [changes.get((render_sku(product), on)) for on in range(day + 1)]
            assert (
                changes[render_sku(product), day + 1]
                < 0.9 * [cents for cents in usual if cents][-1]
            )
            begun += 1
        for product in today.keys() - tomorrow.keys():
            assert (
                changes[render_sku(product), day + 1]
                > changes[render_sku(product), find_start(product, day)]
            )
    assert begun


def find_start(product: int, day: int) -> int:
    return next(on + 1 for on in range(day, -1, -1) if product not in DRAWN.list_running(on))


def publish_plans() -> tuple[Event, ...]:
    return publish_world(QUIET, PROMOTIONS, 24 * QUIET_DAYS)


def test_every_promotion_is_planned_and_no_other() -> None:
    planned = {
        (plan["sku"], day)
        for plan in publish_plans()
        for day in range(find_day(plan["starts_at"]), find_day(plan["ends_at"]))
    }
    drawn = {
        (render_sku(product), day)
        for day in range(QUIET_DAYS)
        for product in DRAWN.list_running(day)
    }
    assert drawn
    assert {(of, day) for of, day in planned if day < QUIET_DAYS} == drawn


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


def test_a_plan_holds_only_when_the_promotion_before_it_is_over() -> None:
    promotions = Promotions(seed=5, products=200)
    ends: dict[int, int] = {}
    followed = 0
    for day in range(90):
        for product, promotion in promotions.list_beginning(day).items():
            followed += product in ends
            assert promotion.begins - NOTICE_DAYS > ends.get(product, -NOTICE_DAYS)
            ends[product] = promotion.ends
    assert followed


def test_the_prices_of_a_plan_are_those_that_come() -> None:
    """Price changes around a promotion do not alter its prices."""
    over = [plan for plan in publish_plans() if find_day(plan["ends_at"]) < QUIET_DAYS]
    assert over
    for plan in over:
        at = plan["starts_at"], plan["ends_at"]
        prices = [find_price(plan["sku"], at_ms) for start in at for at_ms in (start - 1, start)]
        usual, promoted = plan["usual_price_cents"], plan["price_cents"]
        assert prices == [usual, promoted, promoted, usual]


def find_price(of: str, at_ms: int) -> int:
    holding = [
        change["price_cents"]
        for change in publish_world(QUIET, PRICE_CHANGES, 24 * QUIET_DAYS)
        if change["sku"] == of and change["effective_at"] <= at_ms
    ]
    return int(holding[-1])


def test_shelves_that_wait_for_orders_open_with_what_promotions_sell_until_goods_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lifted, by_vans = open_shelves("orders"), open_shelves("vans")
    expected = {
        product.sku
        for number, product in enumerate(World(QUIET).products)
        if any(number in DRAWN.list_running(day) for day in range(product.lead_time_days + 2))
    }
    monkeypatch.setattr("generators.prices.STARTED_SHARE", 0.0)
    usual = open_shelves("orders")
    higher = {of for of, units in lifted.items() if units > usual[of]}
    assert higher
    assert higher == expected & lifted.keys()
    assert by_vans == open_shelves("vans")


def open_shelves(refill: Refill) -> Mapping[str, int]:
    """Units on the shelves of the first minute, in a world where many come."""
    world = World(replace(CLEAN, receipts_per_minute=120.0, refill=refill))
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
