"""The policy: below which inventory position to order for a shelf, and up to which.

The demand of the days before the review is taken for that of the days to come. A shelf needs what
is sold until goods ordered at the *next* review are there, and some more since demand varies: that
is the reorder point. An order takes it further by what is cheapest to order at once.

The functions are plain arithmetic. They take numbers, or columns of Spark with `Arithmetic` of its
own, and give the same for both.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    swing: float = 1.0  # of the mean: Saturdays and promotions last for days, and are not chance
    dispersion_min: float = 3.3  # variance over mean: customers take up to six of a thing at once
    late_days: float = 0.25  # one delivery in ten is up to six hours late
    order_cents: int = 30  # to write, pick, and put an order on a shelf
    holding_per_day: float = 0.001  # of its cost: capital, room, and what goes bad


class Arithmetic(NamedTuple):
    """What differs between numbers and columns."""

    sqrt: Callable[[Any], Any] = math.sqrt
    ceil: Callable[[Any], Any] = math.ceil
    largest: Callable[..., Any] = max


class Levels(NamedTuple):
    reorder_point_units: Any
    order_up_to_units: Any


def levels(
    sold: Sequence[Any],
    days: Any,
    lead_time_days: Any,
    pack_size_units: Any,
    unit_cost_cents: Any,
    policy: Policy,
    on: Arithmetic = Arithmetic(),  # noqa: B008  it has no state
) -> Levels:
    """The levels of one shelf at one review.

    Sold: units of each of the DAYS before the review, the days before the shelf's first as zeros.
    Days: how many of them count.
    """
    total = sum(sold[1:], sold[0])
    squares = sum((units * units for units in sold[1:]), sold[0] * sold[0])
    mean = total / days
    spread = (squares - total * mean) / on.largest(days - 1, 1)
    variance = on.largest(spread, mean * policy.dispersion_min)
    exposed_days = lead_time_days + (policy.review_days + policy.late_days)
    point = on.ceil(
        mean * (1.0 + policy.swing) * exposed_days
        + on.sqrt(variance * exposed_days) * policy.safety
    )
    batch = on.ceil(cheapest(mean, unit_cost_cents, policy, on))
    return Levels(point, point + on.largest(batch, pack_size_units))


def cheapest(mean: Any, unit_cost_cents: Any, policy: Policy, on: Arithmetic) -> Any:
    """Wilson's lot: as many units at once that ordering costs what holding them does."""
    holding_cents = unit_cost_cents * policy.holding_per_day
    return on.sqrt(mean * (2.0 * policy.order_cents) / on.largest(holding_cents, 0.001))
