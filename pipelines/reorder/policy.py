"""The policy: the reorder point and the order-up-to level of a shelf.

It forecasts demand by the days before the review. A promotion changes both sides: its past sales
count as what the usual price would have sold, and each future day of it as the usual days that it
is worth. The reorder point covers the demand until goods arrive that are ordered at the next look
at the position, plus a safety stock, since demand varies and its mean is an estimate from few days.
The order-up-to level adds the cheapest lot. Levels hold until the next review. Before its first
review a shelf is filled up to what it opened with.

The functions are plain arithmetic. They take numbers, or Spark columns with their own `Arithmetic`,
and give the same result for both.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipelines.common.arithmetic import Arithmetic

DAYS = 7
"""The days before a review that it reads: every weekday once, so that each has its weight."""


@dataclass(frozen=True)
class Policy:
    """The parameters of the policy, each with its reason."""

    review_days: int = 0  # the position is looked at whenever it changes; 1: at reviews only
    safety: float = (
        2.5  # deviations: a unit costs a thousandth a day to hold, and its margin to lack
    )
    swing: float = 0.5  # of the mean: Fridays and Saturdays follow each other, and are not chance
    lift_per_cut: int = 6  # half the price brings four times the buyers, as past promotions did
    dispersion_min: float = 3.3  # variance over mean: customers take up to six of a thing at once
    late_days: float = 0.25  # one delivery in ten is up to six hours late
    order_cents: int = 30  # to write an order, pick it, and shelve it
    holding_per_day: float = 0.001  # of its cost: capital, room, and waste
    opening_share: float = 0.8  # of the units that a shelf opened with: its first reorder point


class Levels(NamedTuple):
    reorder_point_units: Any
    order_up_to_units: Any


class Plan(NamedTuple):
    """A promotion, relative to a review."""

    lift_permille: Any
    """Demand while it lasts, in thousandths of the usual demand."""
    begins_days: Any
    """Days from the review to its beginning; negative: before the review."""
    ends_days: Any


LEVELS_HOLD_DAYS = 1
"""From a review to the next one."""

NO_PLAN = Plan(1_000, 0.0, 0.0)


def lift_permille(
    usual_cents: Any,
    cents: Any,
    policy: Policy,
    on: Arithmetic = Arithmetic(),  # noqa: B008  it has no state
) -> Any:
    """Demand at a price, in thousandths of the demand at the usual price."""
    cut = (usual_cents - cents) * (policy.lift_per_cut * 1_000)
    return on.divided(cut, usual_cents) + 1_000


def estimate_usual_milli(units: Any, lift: Any, on: Arithmetic = Arithmetic()) -> Any:  # noqa: B008
    """Thousandths of units that the usual price would have sold where a lifted one sold these."""
    return on.divided(units * 1_000_000, lift)


def derive_levels(
    sold_milli: Sequence[Any],
    days: Any,
    lead_days: Any,
    pack_size_units: Any,
    unit_cost_cents: Any,
    plan: Plan,
    policy: Policy,
    on: Arithmetic = Arithmetic(),  # noqa: B008  it has no state
    units_each: Any = 1,
) -> Levels:
    """The levels of one shelf at one review, in units.

    `sold_milli`: for each of the DAYS before the review, what the usual price would have sold, in
    thousandths; zero before the shelf's first day. `days`: how many of them count. `lead_days`: the
    lead time, with a fraction of a day.

    `units_each`: the units of what is counted in `sold_milli` and paid by `unit_cost_cents`: one of
    a piece, a thousand of a whole measure. The policy reckons in pieces or whole measures, since
    the variance over the mean would be another number in grams.
    """
    total = sum(sold_milli[1:], sold_milli[0])
    squares = sum((milli * milli for milli in sold_milli[1:]), sold_milli[0] * sold_milli[0])
    mean_milli = total / days
    mean = mean_milli / 1_000.0
    spread = (squares - total * mean_milli) / on.largest(days - 1, 1) / 1_000_000.0
    variance = on.largest(spread, mean * policy.dispersion_min)
    exposed_days = lead_days + (policy.review_days + policy.late_days)
    seen_days = lead_days + (LEVELS_HOLD_DAYS + policy.late_days)
    promoted_days = on.smallest(count_promoted_days(plan, seen_days, on), exposed_days)
    worth_days = exposed_days + promoted_days * (plan.lift_permille / 1_000.0 - 1.0)
    # An error of the mean repeats on each future day.
    doubted_days = worth_days + worth_days * worth_days / days
    needed = (
        mean * (1.0 + policy.swing) * worth_days + on.sqrt(variance * doubted_days) * policy.safety
    )
    point = on.ceil(needed * units_each)
    batch = on.ceil(compute_cheapest(mean, unit_cost_cents, policy, on) * units_each)
    return Levels(point, point + on.largest(batch, pack_size_units))


def derive_first_levels(
    opened_units: Any,
    policy: Policy,
    floor: Callable[[Any], Any] = math.floor,
) -> Levels:
    """The levels of a shelf from its opening until its first review."""
    return Levels(floor(opened_units * policy.opening_share), opened_units)


def count_promoted_days(plan: Plan, seen_days: Any, on: Arithmetic) -> Any:
    """The days of the plan between the review and the end of the days that it has to see."""
    begins_days = on.largest(plan.begins_days, 0.0)
    return on.largest(on.smallest(plan.ends_days, seen_days) - begins_days, 0.0)


def compute_cheapest(mean: Any, unit_cost_cents: Any, policy: Policy, on: Arithmetic) -> Any:
    """Wilson's lot, in what the mean counts: ordering it costs as much as holding it."""
    holding_cents = unit_cost_cents * policy.holding_per_day
    return on.sqrt(mean * (2.0 * policy.order_cents) / on.largest(holding_cents, 0.001))
