"""What a way to order costs, in a small world."""

from dataclasses import replace

import numpy as np

from infra.cli.score_reorder import clean
from pipelines.reorder.policy import Levels, Policy
from tests.oracle.reorder_score import Costs, Life, best, by_policy, cost

DAYS = 4
WORLD = replace(clean(seed=3), stores=1, products=8, receipts_per_minute=0.3, refill="orders")
COSTS = Costs()


def test_who_never_orders_has_no_orders_and_loses_sales() -> None:
    life = Life(WORLD, 7, lambda _: Levels(-1_000_000, 1))
    found = life.score(COSTS)
    assert found.orders == 0
    assert found.missed_units > 0
    assert found.lost_cents > 0


def test_whoever_orders_it_is_one_demand() -> None:
    """But for what was broken or stolen, where it was there to be."""
    policy, vans = Life(WORLD, DAYS, by_policy(Policy())), Life(replace(WORLD, refill="vans"), DAYS)
    wanted, by_vans = (sum(map(sum, one.demand.values())) for one in (policy, vans))
    assert abs(wanted - by_vans) < wanted / 100
    assert policy.score(COSTS).orders > 0


def test_the_best_levels_are_no_worse_than_others_on_the_same_demand() -> None:
    life = Life(WORLD, DAYS, by_policy(Policy()))
    shelf = min(life.demand)
    product = life.products[shelf.sku]
    found = best(life.demand[shelf], life.opening[shelf], product, COSTS)
    tried = [found, Levels(0, product.pack_size_units), Levels(500, 1_000)]
    points = np.array([float(one.reorder_point_units) for one in tried])
    lots = np.array([float(one.order_up_to_units - one.reorder_point_units) for one in tried])
    costs = cost(life.demand[shelf], life.opening[shelf], product, COSTS, points, lots)
    assert costs[0] == min(costs)
