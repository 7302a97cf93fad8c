"""Ways to choose a shelf's levels at a review: by the policy, or by the best levels in hindsight.

SciPy's differential evolution finds the best levels shelf by shelf, on the demand and the
deliveries of the simulated world. An order's delivery is a function of its shelf and its review.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import differential_evolution

from generators.event import Event
from generators.products import Product
from ops.verify.reorder_life import (
    DAY_MS,
    HOURS_PER_DAY,
    Costs,
    Delivery,
    Life,
    Propose,
    Review,
    compute_margin_cents,
)
from pipelines.reorder.policy import (
    DAYS,
    NO_PLAN,
    Levels,
    Plan,
    Policy,
    derive_levels,
    estimate_usual_milli,
    lift_permille,
)
from services.ordering.decision import Shelf

ROUNDS_MAX, POPULATION = 20, 8


def propose_by_policy(policy: Policy) -> Propose:
    def propose(review: Review) -> Levels:
        week = [
            sum(
                estimate_usual_milli(sale.units, lift_at(review.plans, sale.at_ms, policy))
                for sale in day
            )
            for day in reversed(review.sold[-DAYS:])
        ]
        return derive_levels(
            [*week, *[0] * (DAYS - len(week))],
            len(week),
            review.product.lead_time_days,
            review.product.pack_size_units,
            review.product.unit_cost_cents,
            find_plan(review, policy),
            policy,
        )

    return propose


def lift_at(plans: Sequence[Event], at_ms: int, policy: Policy) -> int:
    """The lift of sales at a time, in permille, by the plan known then."""
    plan = find_newest_plan(plans, at_ms)
    if plan is None or not plan["starts_at"] <= at_ms < plan["ends_at"]:
        return 1_000
    return lift(plan, policy)


def find_plan(review: Review, policy: Policy) -> Plan:
    """The promotion that a review knows: the one known at its shelf's newest event."""
    plan = find_newest_plan(review.plans, review.told_ms)
    if plan is None:
        return NO_PLAN
    begins, ends = ((plan[edge] - review.at_ms) / DAY_MS for edge in ("starts_at", "ends_at"))
    return Plan(lift(plan, policy), begins, ends)


def find_newest_plan(plans: Sequence[Event], at_ms: int) -> Event | None:
    return next((one for one in reversed(plans) if one["effective_at"] <= at_ms), None)


def lift(plan: Event, policy: Policy) -> int:
    return int(lift_permille(plan["usual_price_cents"], plan["price_cents"], policy))


def propose_by_table(best: Mapping[Shelf, Levels]) -> Propose:
    return lambda review: best[review.shelf]


def find_best_levels(life: Life, costs: Costs) -> dict[Shelf, Levels]:
    """By shelf, the levels that would have been cheapest on this life's demand."""
    return {
        shelf: optimize_levels(
            demand,
            life.opening[shelf],
            life.products[shelf.sku],
            life.list_deliveries(shelf),
            costs,
        )
        for shelf, demand in sorted(life.demand.items())
    }


def optimize_levels(
    demand: Sequence[int],
    opening: int,
    product: Product,
    deliveries: Mapping[int, Delivery],
    costs: Costs,
) -> Levels:
    most = max(2, sum(demand) * HOURS_PER_DAY * (product.lead_time_days + 3) // len(demand))
    optimum = differential_evolution(
        lambda tried: compute_costs(
            demand, opening, product, deliveries, costs, tried[0], tried[1]
        ),
        [(0, most), (1, most)],
        integrality=[True, True],
        popsize=POPULATION,
        maxiter=ROUNDS_MAX,
        updating="deferred",
        vectorized=True,
        polish=False,
        rng=0,
    )
    point, lot = (int(one) for one in optimum.x)
    return Levels(point, point + lot)


def compute_costs(
    demand: Sequence[int],
    opening: int,
    product: Product,
    deliveries: Mapping[int, Delivery],
    costs: Costs,
    point: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    lot: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The cost of each of these levels, in cents. `deliveries`: by the hour of the review."""
    pack = product.pack_size_units
    last = max((one.arrives_hour for one in deliveries.values()), default=0)
    stock = np.full_like(point, opening)
    on_order, total = np.zeros_like(point), np.zeros_like(point)
    coming, closing = (np.zeros((max(last, len(demand)) + 1, point.size)) for _ in range(2))
    per_hour = product.unit_cost_cents * costs.holding_per_day / HOURS_PER_DAY
    for hour, wanted in enumerate(demand):
        stock += coming[hour]
        on_order -= closing[hour]
        if hour in deliveries:
            delivery = deliveries[hour]
            position = stock + on_order
            packs = np.maximum(1, np.ceil((point + lot - position) / pack))
            ordered = np.where(position <= point, packs * pack, 0)
            coming[delivery.arrives_hour] += np.floor(ordered // pack * delivery.share) * pack
            closing[delivery.arrives_hour] += ordered
            on_order += ordered
            total += np.where(ordered > 0, costs.order_cents, 0)
        sold = np.minimum(stock, wanted)
        stock -= sold
        total += (wanted - sold) * compute_margin_cents(product) + stock * per_hour
    return total
