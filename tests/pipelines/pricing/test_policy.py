"""What sales say of a stock, and what a marked down price is."""

import pytest

from pipelines.pricing.policy import (
    count_half_hours_per_day,
    derive_bounds,
    lower_price_cents,
)
from pipelines.pricing.thresholds import Thresholds

CERTAIN = Thresholds(cover_days=10, enough_days=4, deviations=0)
"""Sales are what demand is."""


@pytest.mark.parametrize("units_each", [1, 1_000])
def test_stock_is_too_much_and_enough_by_days_of_demand(units_each: int) -> None:
    assert derive_bounds(6 * units_each, 8.0, units_each, CERTAIN) == (
        480 * units_each,
        192 * units_each,
    )


def test_few_sales_say_less_than_many() -> None:
    """15 expected in a thousand: by chance 22, or none at all of three."""
    limits = Thresholds(cover_days=1, enough_days=1, deviations=2, dispersion=1)
    assert derive_bounds(15, 1.0, 1, limits) == (15 + 8, 15 - 8)
    assert derive_bounds(3, 1.0, 1, limits) == (3 + 4, 0)
    assert derive_bounds(0, 1.0, 1, limits) == (2, 0)


def test_a_half_hour_counts_by_its_hours_share_of_a_day() -> None:
    limits = Thresholds()
    assert sum(limits.shares_permille) == 1_000
    assert min(limits.shares_permille) > 0
    assert count_half_hours_per_day(50) == 40.0


@pytest.mark.parametrize(
    ("price_cents", "unit_cost_cents", "lower_cents"),
    [
        (400, 200, 300),
        (399, 200, 299),  # rounded down
        (240, 200, 180),  # 180 are nine tenths of the cost
        (239, 200, 180),
        (180, 200, 180),  # no lower than it is
        (0, 0, 0),
    ],
)
def test_a_lower_price_is_a_quarter_off_and_at_least_nine_tenths_of_the_cost(
    price_cents: int, unit_cost_cents: int, lower_cents: int
) -> None:
    assert lower_price_cents(price_cents, unit_cost_cents, Thresholds()) == lower_cents
