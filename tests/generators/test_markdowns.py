"""Prices that others set: tills ask them, customers answer them, and the simulator makes way."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from contracts import INCIDENTS, PRICE_CHANGES, RECEIPTS, REFUNDS
from generators.parameters import Parameters, create_parameters
from generators.prices import PriceSet
from generators.products import ELASTICITY
from generators.shelves import OVERSTOCK_FACTOR
from generators.ticks import (
    START_MS,
    TICKS_PER_DAY,
    to_day_start_ms,
    to_tick_start_ms,
)
from generators.wire import encode_value
from generators.world import World
from infra.settings import Settings
from tests.generators.worlds import CLEAN, SMALL, live

BUSY = replace(CLEAN, stores=1, receipts_per_minute=60.0, refill="orders", overstock_share=1.0)
"""Nothing runs out in half a day: what is wanted is sold."""
SLOW = replace(CLEAN, receipts_per_minute=1.0)
SKU = "SKU-00000"  # every store keeps it
CUT_TICK, HEARD_TICK, HOURS = 90, 80, 12
CUT_MS = to_tick_start_ms(CUT_TICK)
CUT_PERCENT = 40

Line = tuple[int, str, int, int]
"""When, what, how many and at what price."""
Heard = Mapping[int, Sequence[PriceSet]]
"""By tick."""


def find_price(world: World, sku: str) -> int:
    return next(product.unit_price_cents for product in world.products if product.sku == sku)


def mark_down(world: World, sku: str = SKU, effective_ms: int = CUT_MS) -> PriceSet:
    cents = find_price(world, sku) * (100 - CUT_PERCENT) // 100
    return PriceSet(f"{sku}-cut", sku, cents, effective_ms)


def sell(parameters: Parameters, hours: int, heard: Heard) -> list[Line]:
    return [
        (publication.event["event_time"], line["sku"], line["units"], line["unit_price_cents"])
        for publication in live(World(parameters), hours, heard)
        if publication.topic == RECEIPTS.name
        for line in publication.event["lines"]
    ]


def test_tills_ask_another_s_price_from_the_minute_on_in_which_it_takes_effect() -> None:
    price = mark_down(World(BUSY))
    for heard_tick, since_ms in ((HEARD_TICK, CUT_MS), (CUT_TICK + 7, CUT_MS + 7 * 60_000)):
        sold = sell(BUSY, 4, {heard_tick: [price, price._replace(sku="SKU-99999")]})
        paid = {(at_ms >= since_ms, cents) for at_ms, sku, _, cents in sold if sku == SKU}
        assert paid == {(False, find_price(World(BUSY), SKU)), (True, price.cents)}


def test_a_cut_sells_more_by_the_elasticity_from_its_minute_on_and_a_rise_less() -> None:
    """Against the same world without it, where all else is sold the same."""
    world = World(BUSY)
    changes = {product.sku: -CUT_PERCENT for product in world.products[::4]}
    changes |= {product.sku: 10 for product in world.products[1::8]}
    prices = [
        PriceSet(sku, sku, find_price(world, sku) * (100 + percent) // 100, CUT_MS)
        for sku, percent in changes.items()
    ]
    without, with_changes = sell(BUSY, HOURS, {}), sell(BUSY, HOURS, {HEARD_TICK: prices})
    kept, as_before = (
        [line for line in sold if line[0] < CUT_MS or line[1] not in changes]
        for sold in (without, with_changes)
    )
    assert kept == as_before
    usual, sold = (sum_units(lines) for lines in (without, with_changes))
    for product in world.products:
        if product.sku in changes:
            percent = 100 - changes[product.sku] * ELASTICITY[product.category]
            expected = usual[product.sku] * percent / 100
            assert sold[product.sku] == pytest.approx(expected, abs=5 * expected**0.5 + 10)


def sum_units(lines: Sequence[Line]) -> Counter[str]:
    """By sku, from the cut on."""
    units: Counter[str] = Counter()
    for at_ms, sku, count, _ in lines:
        units[sku] += count if at_ms >= CUT_MS else 0
    return units


@pytest.mark.parametrize("cents", [0, 2**31 - 1])
def test_a_world_goes_on_at_any_price_that_the_contract_allows(cents: int) -> None:
    parameters = replace(SMALL, fraud_rate=0.1, look_alike_rate=0.2)
    prices = [PriceSet(sku, sku, cents, START_MS) for sku in map("SKU-{:05d}".format, range(40))]
    published = live(World(parameters), 10, {0: prices})
    assert {record.topic for record in published} >= {RECEIPTS.name, REFUNDS.name, INCIDENTS.name}
    for record in published:
        encode_value(record)


def to_day_tick(day: int) -> int:
    return (to_day_start_ms(day) - START_MS) // 60_000


def list_own_prices(heard: Heard, sku: str) -> list[tuple[int, int]]:
    """From which day on the product costs what, as the simulator announces it."""
    return [
        (round((change["effective_at"] - to_day_start_ms(0)) / (60_000 * TICKS_PER_DAY)), cents)
        for publication in live(World(replace(SLOW, receipts_per_minute=0.1)), 24 * 20, heard)
        if publication.topic == PRICE_CHANGES.name
        and (change := publication.event)["sku"] == sku
        and (cents := change["price_cents"])
    ]


def test_the_usual_price_rests_while_another_s_differs_and_then_goes_on() -> None:
    sku = "SKU-00001"
    assert list_own_prices({}, sku) == [(0, 69), (14, 79), (19, 69)]
    cut = mark_down(World(SLOW), sku, to_day_start_ms(10))
    usual = PriceSet("back", sku, 69, to_day_start_ms(16))
    heard = {to_day_tick(9): [cut], to_day_tick(15): [usual]}
    assert list_own_prices(heard, sku) == [(0, 69), (19, 69)]
    unchanged = {to_day_tick(9): [cut._replace(cents=69)]}
    assert list_own_prices(unchanged, sku) == [(0, 69), (14, 79), (19, 69)]


def test_a_promotion_ends_a_markdown_when_it_begins_and_when_it_ends() -> None:
    sku, begins, ends = "SKU-00018", 4, 9
    world = World(SLOW)
    usual, cut = find_price(world, sku), mark_down(world, sku, to_day_start_ms(1))
    within = cut._replace(event_id="within", effective_ms=to_day_start_ms(7))
    sold = sell(SLOW, 24 * 11, {0: [cut], 1: [within]})
    edges = [to_day_start_ms(day) for day in (0, 1, begins, 7, ends, 11)]
    paid = [
        {cents for at_ms, sold_sku, _, cents in sold if sold_sku == sku and begin <= at_ms < end}
        for begin, end in pairwise(edges)
    ]
    assert paid == [{usual}, {cut.cents}, {140}, {cut.cents}, {usual}]


def test_that_share_of_the_products_opens_with_too_much_in_every_store() -> None:
    usual, over = (World(replace(CLEAN, overstock_share=share)) for share in (0.0, 0.1))
    usual.tick()
    over.tick()
    factors = {
        (store_id, sku): over.count_units(store_id)[sku] / units
        for store_id in usual.store_ids
        for sku, units in usual.count_units(store_id).items()
    }
    many = {sku for (_, sku), factor in factors.items() if factor > OVERSTOCK_FACTOR / 2}
    assert len(many) == CLEAN.products // 10
    assert all((factor > 1.5) == (sku in many) for (_, sku), factor in factors.items())
    assert create_parameters(Settings()).overstock_share > 0
