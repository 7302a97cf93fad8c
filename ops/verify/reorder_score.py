"""The costs of ways to order in one simulated world: vans, the policy, and the best levels.

It also computes a bound that no way can beat (ops/verify/reorder_bound.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from generators.parameters import Parameters
from generators.products import Product
from ops.verify.reorder_bound import Terms, compute_least_cents, group_by_arrival
from ops.verify.reorder_life import HOURS_PER_DAY, Costs, Life, Score, compute_margin_cents
from ops.verify.reorder_ways import find_best_levels, propose_by_policy, propose_by_table
from pipelines.reorder.policy import Policy

POLICY = "the policy"


def compute_bound_cents(life: Life, costs: Costs) -> float:
    """The cost of the cheapest orders in this life: see ops/verify/reorder_bound.py."""
    return sum(
        compute_least_cents(
            life.opening[shelf],
            wanted,
            life.moved[shelf],
            group_by_arrival(life.list_earliest_deliveries(shelf)),
            create_terms(life.products[shelf.sku], costs),
        )
        for shelf, wanted in life.demand.items()
    )


def create_terms(product: Product, costs: Costs) -> Terms:
    return Terms(
        pack_size_units=product.pack_size_units,
        order_cents=costs.order_cents,
        lost_cents=compute_margin_cents(product),
        holding_cents=product.unit_cost_cents * costs.holding_per_day / HOURS_PER_DAY,
    )


@dataclass(frozen=True)
class Comparison:
    """The scores of the ways to order in one world, and a lower bound of their costs."""

    ways: Mapping[str, Score]
    bound_cents: float

    @property
    def policy(self) -> Score:
        return self.ways[POLICY]

    @property
    def of_bound(self) -> float:
        """The cost of the policy, as a share of the bound."""
        return self.policy.cost_cents / self.bound_cents


def compare(world: Parameters, days: int, costs: Costs) -> Comparison:
    """Simulate one world with vans, the policy and the best levels; the bound is the policy's."""
    by_orders = replace(world, refill="orders")
    vans = Life(replace(world, refill="vans"), days)
    policy = Life(by_orders, days, propose_by_policy(Policy()))
    hindsight = Life(by_orders, days, propose_by_table(find_best_levels(policy, costs)))
    lives = {"vans": vans, POLICY: policy, "best (s, S)": hindsight}
    ways = {name: life.score(costs) for name, life in lives.items()}
    return Comparison(ways, compute_bound_cents(policy, costs))
