from datetime import UTC, datetime
from itertools import pairwise

import pytest

from generators.demand import SEASONS, compute_season_percent
from generators.products import CATEGORIES
from generators.ticks import START

YEAR_DAYS = 365


def find_day(month: int) -> int:
    """The world's day that is the first of the month, in its second year."""
    return (datetime(2027, month, 1, tzinfo=UTC) - START).days + 1


def test_every_category_has_its_seasons() -> None:
    assert SEASONS.keys() == {category.name for category in CATEGORIES}


@pytest.mark.parametrize("category", SEASONS)
def test_a_year_is_as_strong_as_the_mean_and_no_day_unlike_the_next(category: str) -> None:
    year = [compute_season_percent(category, day) for day in range(YEAR_DAYS + 1)]
    assert 97 < sum(year) / len(year) < 103
    assert max(abs(a - b) for a, b in pairwise(year)) <= 1
    assert max(year) - min(year) >= 5


def test_drinks_are_for_the_summer_and_sweets_for_the_winter() -> None:
    assert compute_season_percent("drinks", find_day(7)) > 1.5 * compute_season_percent(
        "drinks", find_day(1)
    )
    assert compute_season_percent("sweets", find_day(12)) > 1.5 * compute_season_percent(
        "sweets", find_day(7)
    )
