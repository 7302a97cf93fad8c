"""The policy: what sells too slowly for the stock that lies there, when it has sold well enough,
and what it costs when marked down.

Sales of an interval are few or many by chance, too. So a product is too slow only if even the most
that demand may be leaves its stock there for too long, and has sold well enough only if even the
least that demand may be clears the rest soon.

The functions are plain arithmetic, on numbers and on Spark's columns alike.
"""

from typing import Any, NamedTuple

from pipelines.common.arithmetic import NUMBERS, Arithmetic
from pipelines.pricing.thresholds import Thresholds

HALF_HOURS_PER_HOUR = 2


class Bounds(NamedTuple):
    """Stock of a product in all stores."""

    slow_above_units: Any
    enough_units: Any


def derive_bounds(
    units_sold: Any,
    intervals_per_day: Any,
    units_each: Any,
    limits: Thresholds,
    on: Arithmetic = NUMBERS,
) -> Bounds:
    """What the sales of one interval say of one product's stock.

    `intervals_per_day`: how many times its demand a day has. `units_each`: the units of what is
    counted, one of a piece, a thousand of a whole measure.
    """
    sold = units_sold / units_each
    deviation = on.sqrt((sold + 1.0) * limits.dispersion) * limits.deviations
    most = (sold + deviation) * intervals_per_day
    least = on.largest(sold - deviation, 0.0) * intervals_per_day
    return Bounds(
        on.ceil(most * limits.cover_days * units_each),
        on.floor(least * limits.enough_days * units_each),
    )


def count_half_hours_per_day(share_permille: Any) -> Any:
    """How many half-hours of an hour with this share of a day's receipts sell what a day sells."""
    return HALF_HOURS_PER_HOUR * 1_000.0 / share_permille


def lower_price_cents(
    price_cents: Any, unit_cost_cents: Any, limits: Thresholds, on: Arithmetic = NUMBERS
) -> Any:
    """The price when marked down; it may be no lower than the list's."""
    cut_cents = on.divided(price_cents * (100 - limits.cut_percent), 100)
    least_cents = unit_cost_cents - on.divided(unit_cost_cents * limits.loss_percent_max, 100)
    return on.largest(cut_cents, least_cents)
