"""What a way to order costs, in a small world, and the bound that no way to order beats."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from generators.event import Event
from generators.world import World
from ops.cli.score import clean
from ops.verify.reorder_bound import Terms, compute_least_cents
from ops.verify.reorder_score import DAY_MS, Life, Propose, Review, Sale, propose_by_policy
from pipelines.reorder.policy import Levels, Policy
from tests.seeds import create_random

DAYS = 4
WORLD = replace(clean(seed=3), stores=1, products=8, receipts_per_minute=0.3)
HOURS = 6
PACKS_MAX = 8


def test_who_never_orders_has_no_orders_and_loses_sales() -> None:
    score = Life(WORLD, 7, lambda _: Levels(-1_000_000, 1), Policy(review_days=1)).score()
    assert score.orders == 0
    assert score.missed_units > 0
    assert score.lost_cents > 0


def test_whoever_orders_it_is_one_demand() -> None:
    """But for what was broken or stolen, where it was there to be."""
    policy, other = live(Policy()), Life(WORLD, DAYS, lambda _: Levels(20, 70))
    wanted, also = (sum(map(sum, life.demand.values())) for life in (policy, other))
    assert abs(wanted - also) < wanted / 100
    assert 0 < policy.score().orders != other.score().orders


def test_deliveries_are_those_of_the_shelf_for_an_order_at_each_hour() -> None:
    """Most come just after the lead time, and none is late for longer than two hours."""
    life = live(Policy())
    for shelf in life.demand:
        lead = life.products[shelf.sku].lead_time_hours
        deliveries = life.list_deliveries(shelf)
        assert sum(map(len, deliveries.values())) == DAYS * 24
        assert min(deliveries) >= lead
        assert max(deliveries) < DAYS * 24 + lead + 2
        assert all(0 <= share <= 1 for shares in deliveries.values() for share in shares)


def test_who_looks_at_every_change_orders_before_the_first_midnight() -> None:
    moments = {
        policy.review_days: [order.moment_ms for order in live(policy).ordered]
        for policy in (Policy(), Policy(review_days=1))
    }
    assert all(moment_ms % DAY_MS == 0 for moment_ms in moments[1])
    assert any(moment_ms % DAY_MS for moment_ms in moments[0])
    assert min(moments[0]) < min(moments[1])


def live(policy: Policy) -> Life:
    return Life(WORLD, DAYS, propose_by_policy(policy), policy)


MIDNIGHT_MS = 20_000 * DAY_MS
STEADY = Policy(review_days=1, safety=0.0, weekdays=(10,) * 7, trust_units=1e12, late_hours=0)


def plan(begins_days: int, ends_days: int, known_days: int = -7) -> Event:
    """Half the price, so four times as much; days after the review."""
    days = {"effective_at": known_days, "starts_at": begins_days, "ends_at": ends_days}
    times = {name: MIDNIGHT_MS + day * DAY_MS for name, day in days.items()}
    return {**times, "usual_price_cents": 200, "price_cents": 100}


def compute_point(*plans: Event, told_days: float = -0.5, sold: Sequence[int] = (8,) * 7) -> int:
    """Of a shelf that sold so much on each day, the last one last, always at noon."""
    begin_ms = MIDNIGHT_MS - len(sold) * DAY_MS + DAY_MS // 2
    days = [[Sale(begin_ms + day * DAY_MS, units)] for day, units in enumerate(sold)]
    product = replace(World(WORLD).products[0], lead_time_hours=48)
    told_ms = MIDNIGHT_MS + int(told_days * DAY_MS)
    review = Review(MIDNIGHT_MS, product, days, plans, told_ms)
    return int(propose_by_policy(STEADY)(review).reorder_point_units)


def test_the_policy_is_given_the_plans_that_the_pipeline_would_see() -> None:
    """Eight a day for three days; two a day are what the usual price would have sold."""
    assert compute_point() == 24
    assert compute_point(plan(0, 1)) == 24 + 3 * 8
    assert compute_point(plan(-7, 0)) == 6
    assert compute_point(plan(0, 1, known_days=-1), told_days=-1.5) == 24
    assert compute_point(plan(0, 2), plan(0, 1, known_days=-3)) == 24 + 3 * 8


@pytest.mark.parametrize("world", range(20))
def test_the_bound_is_the_least_of_all_ways_to_order(world: int) -> None:
    draw = create_random(f"bound {world}")
    opening = draw.randrange(5)
    terms = Terms(
        pack_size_units=draw.choice((3, 5, 6)),
        order_cents=draw.choice((0, 1, 4)),
        lost_cents=draw.choice((1, 3)),
        holding_cents=draw.choice((0.1, 0.5)),
    )
    wanted = [draw.randrange(4) for _ in range(HOURS)]
    moved = [draw.choice((0, 0, 0, 1, -1)) for _ in range(HOURS)]
    hours = [draw.randrange(HOURS) for _ in range(3)]
    whole = {hour: [1.0] * hours.count(hour) for hour in hours}
    tried = (
        compute_spent_cents(opening, wanted, moved, list(zip(hours, packs, strict=True)), terms)
        for packs in product(range(PACKS_MAX), repeat=len(hours))
    )
    least = compute_least_cents(opening, wanted, moved, whole, terms)
    assert least == pytest.approx(min(tried))


def compute_spent_cents(
    opening: int,
    wanted: Sequence[int],
    moved: Sequence[int],
    orders: Sequence[tuple[int, int]],
    terms: Terms,
) -> float:
    """What these orders cost, hour by hour; an order: when it arrives, and its packs."""
    units, cents = opening, 0.0
    for hour in range(HOURS):
        for _, packs in (order for order in orders if order[0] == hour and order[1]):
            units += packs * terms.pack_size_units
            cents += terms.order_cents
        cents += max(0, wanted[hour] - units) * terms.lost_cents
        units = max(0, max(0, units - wanted[hour]) + moved[hour])
        cents += units * terms.holding_cents
    return cents


def test_an_order_that_brings_nothing_is_not_made() -> None:
    terms = Terms(pack_size_units=1, order_cents=1, lost_cents=5, holding_cents=0.1)
    assert compute_least_cents(0, [1], [0], {0: [0.0]}, terms) == 5
    assert compute_least_cents(0, [1], [0], {0: [0.5]}, terms) == 1


@pytest.mark.parametrize(
    "propose",
    [
        *map(propose_by_policy, (Policy(), Policy(safety=0.0), Policy(safety=9.0))),
        *(lambda _, point=point: Levels(point, point + 50) for point in (0, 20, 200)),
    ],
)
def test_no_way_to_order_costs_less(propose: Propose) -> None:
    life = Life(WORLD, DAYS, propose)
    assert 0 < life.compute_bound_cents() <= life.score().cost_cents
