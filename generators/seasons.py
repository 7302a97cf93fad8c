"""Seasons: the demand for each category in the course of a year."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import timedelta

from generators.ticks import START

# Percent of the yearly mean at the beginning of each month, from January; linear in between.
SEASONS: Mapping[str, tuple[int, ...]] = {
    "produce": (85, 85, 92, 100, 110, 118, 118, 115, 105, 97, 90, 85),
    "bakery": (102, 100, 100, 100, 98, 95, 93, 94, 98, 102, 106, 112),
    "dairy": (100, 100, 101, 102, 101, 98, 96, 96, 99, 101, 102, 104),
    "drinks": (82, 80, 86, 95, 110, 124, 132, 126, 108, 92, 80, 85),
    "pantry": (110, 108, 104, 100, 95, 90, 88, 90, 98, 104, 106, 107),
    "sweets": (105, 98, 108, 106, 94, 86, 82, 84, 92, 104, 116, 125),
    "household": (104, 102, 108, 110, 102, 96, 94, 95, 98, 98, 96, 97),
    "care": (96, 95, 97, 100, 106, 112, 112, 106, 98, 94, 92, 92),
}
MONTHS = 12


def compute_season_percent(category: str, day: int) -> int:
    """Demand for the category on the world's n-th day, in percent of the yearly mean."""
    date = START + timedelta(days=day)
    months = SEASONS[category]
    begins, ends = months[date.month - 1], months[date.month % MONTHS]
    _, days = monthrange(date.year, date.month)
    return begins + (ends - begins) * (date.day - 1) // days
