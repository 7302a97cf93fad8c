"""The policy: the reorder point and the order-up-to level of a shelf.

It forecasts each day to come by the same weekday of the week before the review, and each part of
the day by its share of that week. What few units say is chance, so both are drawn to the usual.
A promotion changes both sides: its past sales count as what the usual price would have sold, and
each future day of it as the usual days that it is worth. The reorder point covers the demand until
goods arrive that are ordered at the next look at the position, plus a safety stock. So it moves
through the day. The order-up-to level adds the cheapest lot. Levels hold until the next review.
Before its first review a shelf is filled up to what it opened with.

The functions are plain arithmetic. They take numbers, or Spark columns with their own `Arithmetic`,
and give the same result for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from pipelines.common.arithmetic import NUMBERS, Arithmetic

DAYS = 7
"""The days before a review that it reads: every weekday once, so that each has its weight."""
PARTS = 8
"""The parts of a day that it tells apart, of three hours each."""
HOURS_PER_DAY = 24


@dataclass(frozen=True)
class Policy:
    """The parameters of the policy, each with its reason."""

    review_days: int = 0  # the position is looked at whenever it changes; 1: at reviews only
    safety: float = (
        3.0  # deviations: a unit costs a thousandth a day to hold, and its margin to lack
    )
    weekdays: tuple[int, ...] = (9, 9, 10, 10, 12, 14, 8)  # from Monday: the week of any grocer
    trust_units: float = 80.0  # who sells so many a day is believed by half; the rest is as usual
    lift_per_cut: int = 6  # half the price brings four times the buyers, as past promotions did
    dispersion: float = 4.0  # variance over mean: customers take up to six at once; days differ
    late_hours: int = 2  # one delivery in ten is up to two hours late
    order_cents: int = 30  # to write an order, pick it, and shelve it
    holding_per_day: float = 0.001  # of its cost: capital, room, and waste
    opening_days: float = 1.0  # beyond the lead time: how long the units last that it opened with
    opening_spare_days: float = 0.75  # of them, left when goods arrive; so orders begin at once


class Sold(NamedTuple):
    """What a shelf sold before a review, in thousandths, as if at the usual price."""

    daily_milli: Sequence[Any]
    """On each of the DAYS, the newest first; zero before the shelf's first day."""
    parts_milli: Sequence[Any]
    """In each of the PARTS of all days together."""
    days: Any
    """How many of the days count."""
    weekday: Any
    """The weekday that the review begins; Monday is 0."""


class Forecast(NamedTuple):
    """What a shelf will sell after a review, in units, but for promotions."""

    mean: Any
    """On a day of the week."""
    daily: Sequence[Any]
    """On each of the next DAYS; the same every week."""
    starts: Sequence[Any]
    """Before each of them, and on all of them."""
    clock: Sequence[Any]
    """The share of a day's units that is sold before each of its PARTS, and in all."""


class Levels(NamedTuple):
    reorder_point_units: Any
    """The highest of the day."""
    order_up_to_units: Any
    """What goes with the highest; the lot beyond the point is the same all day."""
    points: Sequence[Any] = ()
    """The point at the beginning of each of the PARTS after the review, and at their end. Empty
    where only reviews look.
    """


class Plan(NamedTuple):
    """A promotion, relative to a review."""

    lift_permille: Any
    """Demand while it lasts, in thousandths of the usual demand."""
    begins_days: Any
    """Days from the review to its beginning; negative: before the review."""
    ends_days: Any


NO_PLAN = Plan(1_000, 0.0, 0.0)


def lift_permille(usual_cents: Any, cents: Any, policy: Policy, on: Arithmetic = NUMBERS) -> Any:
    """Demand at a price, in thousandths of the demand at the usual price."""
    cut = (usual_cents - cents) * (policy.lift_per_cut * 1_000)
    return on.divided(cut, usual_cents) + 1_000


def estimate_usual_milli(units: Any, lift: Any, on: Arithmetic = NUMBERS) -> Any:
    """Thousandths of units that the usual price would have sold where a lifted one sold these."""
    return on.divided(units * 1_000_000, lift)


def find_weekday(day: Any) -> Any:
    """The weekday of a day, counted from 1970, which began on a Thursday; Monday is 0."""
    return (day + 3) % DAYS


def forecast_demand(sold: Sold, policy: Policy, on: Arithmetic = NUMBERS) -> Forecast:
    past, parts = on.keep(sold.daily_milli), on.keep(sold.parts_milli)
    counts = [on.smallest(on.largest(sold.days - ago, 0), 1) for ago in range(DAYS)]
    weights = on.keep(
        [on.pick(policy.weekdays, (sold.weekday + (DAYS - 1 - ago)) % DAYS) for ago in range(DAYS)]
    )
    counted = [count * weight for count, weight in zip(counts, weights, strict=True)]
    week = add_up(past) * sum(policy.weekdays) / add_up(counted) / 1_000.0
    (mean,) = on.keep([week / DAYS])
    trust, units = on.keep([mean / (mean + policy.trust_units), add_up(parts) / 1_000.0])
    daily = []
    for milli, count, weight in reversed([*zip(past, counts, weights, strict=True)]):
        usual = mean * DAYS * weight / sum(policy.weekdays)
        daily.append(usual + (milli / 1_000.0 - usual) * (trust * count))
    shares = [
        (milli / 1_000.0 + policy.trust_units / PARTS) / (units + policy.trust_units)
        for milli in parts
    ]
    kept, clock = on.keep(daily), on.keep(shares)
    return Forecast(
        mean, kept, on.keep([0.0, *accumulate(kept)]), on.keep([0.0, *accumulate(clock)])
    )


def add_up(numbers: Sequence[Any]) -> Any:
    return sum(numbers[1:], numbers[0])


def derive_levels(
    forecast: Forecast,
    lead_days: Any,
    pack_size_units: Any,
    unit_cost_cents: Any,
    plan: Plan,
    policy: Policy,
    on: Arithmetic = NUMBERS,
    units_each: Any = 1,
) -> Levels:
    """The levels of one shelf at one review, in units. `lead_days`: with a fraction of a day.

    `units_each`: the units of what the forecast counts and `unit_cost_cents` pays: one of a piece,
    a thousand of a whole measure. The policy reckons in pieces or whole measures, since the
    variance over the mean would be another number in grams.
    """
    exposed_days = lead_days + (policy.review_days + policy.late_hours / HOURS_PER_DAY)
    parts = range(1 if policy.review_days else PARTS + 1)
    begins, ends = on.keep(
        [sum_until_moment(forecast, days, on) for days in (plan.begins_days, plan.ends_days)]
    )
    starts = on.keep([sum_until_part(forecast, part, on) for part in parts])
    overs = on.keep([sum_until_moment(forecast, exposed_days + part / PARTS, on) for part in parts])
    raised = plan.lift_permille / 1_000.0 - 1.0
    expected = on.keep(
        [
            on.largest(over - start + clip(begins, ends, start, over, on) * raised, 0.0)
            for start, over in zip(starts, overs, strict=True)
        ]
    )
    points = on.keep(
        [on.ceil(add_safety(units, forecast, policy, on) * units_each) for units in expected]
    )
    (point,) = on.keep([on.largest(*points) if len(points) > 1 else points[0]])
    batch = on.ceil(compute_cheapest(forecast.mean, unit_cost_cents, policy, on) * units_each)
    up_to = point + on.largest(batch, pack_size_units)
    return Levels(point, up_to, () if policy.review_days else points)


def derive_first_levels(
    opened_units: Any, lead_days: Any, policy: Policy, on: Arithmetic = NUMBERS
) -> Levels:
    """The levels of a shelf from its opening until its first review."""
    needed_days = lead_days + policy.opening_spare_days
    return Levels(
        on.floor(opened_units * needed_days / (lead_days + policy.opening_days)), opened_units
    )


def clip(begins: Any, ends: Any, start: Any, over: Any, on: Arithmetic) -> Any:
    """What of the units from `begins` to `ends` lies between `start` and `over`."""
    return on.smallest(on.largest(ends, start), over) - on.smallest(on.largest(begins, start), over)


def add_safety(expected: Any, forecast: Forecast, policy: Policy, on: Arithmetic) -> Any:
    """The units expected, and those against chance and against an error of the forecast, which
    rests on one day and so errs as much as a day does.
    """
    worth_days = expected / on.largest(forecast.mean, 0.001)
    variance = expected * policy.dispersion * (1.0 + worth_days)
    return expected + on.sqrt(variance) * policy.safety


def sum_until_part(forecast: Forecast, part: Any, on: Arithmetic) -> Any:
    """The units sold between the review and the n-th part after it."""
    day = on.divided(part, PARTS)
    week = on.divided(day, DAYS)
    weekday = day - week * DAYS
    before = on.pick(forecast.starts, DAYS) * week + on.pick(forecast.starts, weekday)
    today = on.pick(forecast.daily, weekday) * on.pick(forecast.clock, part - day * PARTS)
    return before + today


def sum_until_moment(forecast: Forecast, days: Any, on: Arithmetic) -> Any:
    """The units sold between the review and so many days after it; none before it."""
    parts = on.largest(days, 0.0) * PARTS
    part = on.floor(parts)
    before = sum_until_part(forecast, part, on)
    return before + (sum_until_part(forecast, part + 1, on) - before) * (parts - part)


def compute_cheapest(mean: Any, unit_cost_cents: Any, policy: Policy, on: Arithmetic) -> Any:
    """Wilson's lot, in what the mean counts: ordering it costs as much as holding it."""
    holding_cents = unit_cost_cents * policy.holding_per_day
    return on.sqrt(mean * (2.0 * policy.order_cents) / on.largest(holding_cents, 0.001))
