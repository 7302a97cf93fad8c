"""What a way to order costs, in a small world."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from generators.event import Event
from ops.cli.score import clean
from ops.verify.reorder_life import DAY_MS, Costs, Delivery, Life, Review, Sale
from ops.verify.reorder_ways import compute_costs, optimize_levels, propose_by_policy
from pipelines.reorder.policy import Levels, Policy
from services.ordering.decision import Shelf

DAYS = 4
WORLD = replace(clean(seed=3), stores=1, products=8, receipts_per_minute=0.3, refill="orders")
COSTS = Costs()


def test_who_never_orders_has_no_orders_and_loses_sales() -> None:
    life = Life(WORLD, 7, lambda _: Levels(-1_000_000, 1))
    score = life.score(COSTS)
    assert score.orders == 0
    assert score.missed_units > 0
    assert score.lost_cents > 0


def test_whoever_orders_it_is_one_demand() -> None:
    """But for what was broken or stolen, where it was there to be."""
    policy, vans = (
        Life(WORLD, DAYS, propose_by_policy(Policy())),
        Life(replace(WORLD, refill="vans"), DAYS),
    )
    wanted, by_vans = (sum(map(sum, one.demand.values())) for one in (policy, vans))
    assert abs(wanted - by_vans) < wanted / 100
    assert policy.score(COSTS).orders > 0


def test_the_best_levels_are_no_worse_than_others_on_the_same_demand() -> None:
    life = Life(WORLD, DAYS, propose_by_policy(Policy()))
    shelf = min(life.demand)
    product = life.products[shelf.sku]
    known = life.demand[shelf], life.opening[shelf], product, life.list_deliveries(shelf), COSTS
    levels = optimize_levels(*known)
    tried = [levels, Levels(0, product.pack_size_units), Levels(500, 1_000)]
    points = np.array([float(one.reorder_point_units) for one in tried])
    lots = np.array([float(one.order_up_to_units - one.reorder_point_units) for one in tried])
    costs = compute_costs(*known, points, lots)
    assert costs[0] == min(costs)


def test_an_order_is_reckoned_to_come_as_the_supplier_would_bring_it() -> None:
    """Nine packs, or four where half of them are short, to a shelf that lacks four an hour."""
    life = Life(WORLD, 0)
    product = replace(life.world.products[0], pack_size_units=10, unit_cost_cents=0)
    demand, opening = [40] * 24, 0
    point, lot = np.array([0.0]), np.array([90.0])

    def count_lost_units(deliveries: dict[int, Delivery]) -> float:
        margin = product.unit_price_cents
        free = Costs(order_cents=0)
        return (
            float(compute_costs(demand, opening, product, deliveries, free, point, lot)[0]) / margin
        )

    assert count_lost_units({}) == 24 * 40
    assert count_lost_units({2: Delivery(12, 1.0)}) == 24 * 40 - 90
    assert count_lost_units({2: Delivery(12, 0.5)}) == 24 * 40 - 40
    assert count_lost_units({2: Delivery(30, 1.0)}) == 24 * 40


def test_deliveries_are_those_of_the_shelf_and_the_review() -> None:
    life = Life(WORLD, DAYS, propose_by_policy(Policy()))
    for shelf in life.demand:
        lead = life.products[shelf.sku].lead_time_days
        deliveries = life.list_deliveries(shelf)
        assert [hour % 24 for hour in deliveries] == [16] * DAYS
        for hour, one in deliveries.items():
            assert 24 * lead <= one.arrives_hour - hour <= 24 * lead + 6
            assert 0 <= one.share <= 1


MIDNIGHT_MS = 20_000 * DAY_MS
STEADY = Policy(safety=0.0, swing=0.0, late_days=0.0)


def plan(begins_days: int, ends_days: int, known_days: int = -7) -> Event:
    """Half the price, so four times as much; days after the review."""
    known, begins, ends = (
        MIDNIGHT_MS + days * DAY_MS for days in (known_days, begins_days, ends_days)
    )
    prices = {"usual_price_cents": 200, "price_cents": 100}
    return {"effective_at": known, "starts_at": begins, "ends_at": ends, **prices}


def compute_point(*plans: Event, told_days: float = -0.5, sold: Sequence[int] = (8,) * 7) -> int:
    """Of a shelf that sold so much on each day, the last one last, always at noon."""
    days = [
        [Sale(MIDNIGHT_MS - (len(sold) - number) * DAY_MS + DAY_MS // 2, units)]
        for number, units in enumerate(sold)
    ]
    product = replace(Life(WORLD, 0).world.products[0], lead_time_days=2)
    told_ms = MIDNIGHT_MS + int(told_days * DAY_MS)
    review = Review(MIDNIGHT_MS, Shelf("S000", product.sku), product, days, plans, told_ms)
    return int(propose_by_policy(STEADY)(review).reorder_point_units)


def test_the_policy_is_given_the_plans_that_the_pipeline_would_see() -> None:
    """Eight a day for three days; two a day are what the usual price would have sold."""
    assert compute_point() == 24
    assert compute_point(plan(0, 1)) == 24 + 3 * 8
    assert compute_point(plan(-7, 0)) == 6
    assert compute_point(plan(0, 1, known_days=-1), told_days=-1.5) == 24
    assert compute_point(plan(0, 2), plan(0, 1, known_days=-3)) == 24 + 3 * 8
