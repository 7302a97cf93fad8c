"""The policy: below which inventory position to order for a shelf, and up to which.

The demand of the days before the review is taken for that of the days to come. A promotion bends
both: what it sold counts as what the usual price would have sold, and its days to come as the days
that they are worth. A shelf needs what is sold until goods ordered at the *next* review are there,
and some more since demand varies and its mean is a guess from few days: that is the reorder point.
An order takes it further by what is cheapest to order at once.

The functions are plain arithmetic. They take numbers, or columns of Spark with `Arithmetic` of its
own, and give the same for both.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import floordiv
from typing import Any, NamedTuple

DAYS = 7
"""How many days a review looks back: every weekday once, so that none weighs more than it does."""


@dataclass(frozen=True)
class Policy:
    """What may be chosen, each with its reason."""

    review_days: int = 1  # a review every midnight
    safety: float = (
        2.5  # deviations: a unit costs a thousandth a day to hold, and its margin to lack
    )
    swing: float = 0.25  # of the mean: Fridays and Saturdays follow each other, and are not chance
    lift_per_cut: int = 6  # half the price brings four times the buyers, as past promotions did
    dispersion_min: float = 3.3  # variance over mean: customers take up to six of a thing at once
    late_days: float = 0.25  # one delivery in ten is up to six hours late
    order_cents: int = 30  # to write, pick, and put an order on a shelf
    holding_per_day: float = 0.001  # of its cost: capital, room, and what goes bad


class Arithmetic(NamedTuple):
    """What differs between numbers and columns."""

    sqrt: Callable[[Any], Any] = math.sqrt
    ceil: Callable[[Any], Any] = math.ceil
    largest: Callable[..., Any] = max
    smallest: Callable[..., Any] = min
    divided: Callable[[Any, Any], Any] = floordiv


class Levels(NamedTuple):
    reorder_point_units: Any
    order_up_to_units: Any


class Plan(NamedTuple):
    """A promotion, as seen at a review."""

    lift_permille: Any
    """How much is wanted while it lasts, of what usually is."""
    begins_days: Any
    """How long after the review; below zero: before it."""
    ends_days: Any


NO_PLAN = Plan(1_000, 0.0, 0.0)


def lift_permille(
    usual_cents: Any,
    cents: Any,
    policy: Policy,
    on: Arithmetic = Arithmetic(),  # noqa: B008  it has no state
) -> Any:
    """How much is wanted at a price, of what is wanted at the usual one."""
    cut = (usual_cents - cents) * (policy.lift_per_cut * 1_000)
    return on.divided(cut, usual_cents) + 1_000


def estimate_usual_milli(units: Any, lift: Any, on: Arithmetic = Arithmetic()) -> Any:  # noqa: B008
    """Thousandths of units that the usual price would have sold where a lifted one sold these."""
    return on.divided(units * 1_000_000, lift)


def derive_levels(
    sold_milli: Sequence[Any],
    days: Any,
    lead_time_days: Any,
    pack_size_units: Any,
    unit_cost_cents: Any,
    plan: Plan,
    policy: Policy,
    on: Arithmetic = Arithmetic(),  # noqa: B008  it has no state
) -> Levels:
    """The levels of one shelf at one review.

    Sold: what the usual price would have sold on each of the DAYS before the review, in thousandths
    of units; the days before the shelf's first as zeros. Days: how many of them count.
    """
    total = sum(sold_milli[1:], sold_milli[0])
    squares = sum((milli * milli for milli in sold_milli[1:]), sold_milli[0] * sold_milli[0])
    mean_milli = total / days
    mean = mean_milli / 1_000.0
    spread = (squares - total * mean_milli) / on.largest(days - 1, 1) / 1_000_000.0
    variance = on.largest(spread, mean * policy.dispersion_min)
    exposed_days = lead_time_days + (policy.review_days + policy.late_days)
    worth_days = exposed_days + count_promoted_days(plan, exposed_days, on) * (
        plan.lift_permille / 1_000.0 - 1.0
    )
    # A mean that is wrong is wrong on each of the days to come.
    doubted_days = worth_days + worth_days * worth_days / days
    point = on.ceil(
        mean * (1.0 + policy.swing) * worth_days + on.sqrt(variance * doubted_days) * policy.safety
    )
    batch = on.ceil(compute_cheapest(mean, unit_cost_cents, policy, on))
    return Levels(point, point + on.largest(batch, pack_size_units))


def count_promoted_days(plan: Plan, exposed_days: Any, on: Arithmetic) -> Any:
    """How much of the plan lies between the review and the end of what it is exposed to."""
    begins_days = on.largest(plan.begins_days, 0.0)
    return on.largest(on.smallest(plan.ends_days, exposed_days) - begins_days, 0.0)


def compute_cheapest(mean: Any, unit_cost_cents: Any, policy: Policy, on: Arithmetic) -> Any:
    """Wilson's lot: as many units at once that ordering costs what holding them does."""
    holding_cents = unit_cost_cents * policy.holding_per_day
    return on.sqrt(mean * (2.0 * policy.order_cents) / on.largest(holding_cents, 0.001))
