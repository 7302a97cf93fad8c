"""Demand: who visits a store, when and for what. It is random and does not depend on stock."""

from bisect import bisect
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from generators.chance import create_random
from generators.customers import Customers, Payer
from generators.stores import Store
from generators.ticks import (
    HOUR_MS,
    HOURS_PER_WEEK,
    START,
    TICK_MS,
    TICKS_PER_HOUR,
    to_day,
    to_hour_of_day,
    to_hour_of_week,
    to_tick_start_ms,
)

BY_HOUR = (3, 2, 1, 1, 1, 2, 4, 7, 9, 10, 11, 12, 13, 11, 10, 10, 12, 15, 16, 13, 9, 6, 5, 4)
BY_WEEKDAY = (9, 9, 10, 10, 13, 15, 8)  # Monday first
MINUTES_PER_WEEK = HOURS_PER_WEEK * 60

LINES = (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6)  # of a basket, equally likely: three on average
UNITS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 6)  # of a line
UNITS_MEAN = sum(UNITS) / len(UNITS)
UNITS_PER_RECEIPT_MEAN = sum(LINES) / len(LINES) * UNITS_MEAN

MORE_LINES_MAX = 10  # for each line: a customer carries no more, whatever is a hit

DAY_SWING = 0.3  # between the quietest and the busiest day of the same weekday
HOUR_SWING = 0.4

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


class Want(NamedTuple):
    """A line of a basket."""

    shelf: int
    units: int
    share: float  # by which lifts of demand add a shelf to it, or take this one away


class Arrival(NamedTuple):
    """A customer at a till, with the basket that they want."""

    at_ms: int
    register: int
    payer: Payer
    wants: list[Want]


class Demand:
    """The visits to one store."""

    def __init__(
        self, seed: int, store: Store, customers: Customers, means: Sequence[float]
    ) -> None:
        self._seed = seed
        self._store = store
        self._customers = customers
        self._means = means
        self._wanted: list[float] = []  # cumulative, by shelf
        self._lift_percent: Mapping[int, int] = {}
        self._more: list[tuple[float, int]] = []  # added demand, cumulative, and shelf
        self.pace = 1.0
        """The number of visits, relative to the usual number."""

    def begin_day(self, wanted: Sequence[int]) -> None:
        """Set today's relative demand for each shelf."""
        self._wanted = [float(total) for total in accumulate(wanted)]

    def set_lifts(self, lift_percent: Mapping[int, int]) -> None:
        """Set demand for some shelves, in percent of today's; what others sell does not change."""
        self._lift_percent = lift_percent
        self._more, total = [], 0.0
        for shelf, percent in lift_percent.items():
            if percent > 100:
                before = self._wanted[shelf - 1] if shelf else 0.0
                total += (self._wanted[shelf] - before) * (percent - 100) / 100
                self._more.append((total, shelf))

    def choose_shelf(self, share: float) -> int:
        """A shelf, chosen by today's demand. `share`: which one, from 0 to 1."""
        return bisect(self._wanted, share * self._wanted[-1])

    def lift(self, want: Want) -> list[int]:
        """The shelves of a line: its own, but for lifts."""
        if not self._lift_percent:
            return [want.shelf]
        share = want.share * 2**20 % 1.0  # the digits that chose no shelf
        is_wanted = share * 100 < self._lift_percent.get(want.shelf, 100)
        shelves = [want.shelf] if is_wanted else []
        for number in range(MORE_LINES_MAX if self._more else 0):
            point = (share + number) * self._wanted[-1]
            if point >= self._more[-1][0]:
                break
            shelves.append(self._more[bisect(self._more, point, key=itemgetter(0))][1])
        return shelves

    def draw_visits(self, tick: int) -> list[Arrival]:
        """The visits from a tick to the end of its hour, ordered by time."""
        hour, minute = divmod(tick, TICKS_PER_HOUR)
        drawn = (tick, "demand from here on") if minute else (hour, "demand")
        draw = create_random(self._seed, self._store.store_id, *drawn)
        random = draw.random
        left_ms = HOUR_MS - minute * TICK_MS
        busy = create_random(self._seed, self._store.store_id, to_day(hour), "busy").random()
        mean = self._means[to_hour_of_week(hour)]
        mean *= 1 + DAY_SWING * (busy - 0.5)
        mean *= 1 + HOUR_SWING * (random() - 0.5)
        visits = int(mean * self.pace * left_ms / HOUR_MS + random())
        start_ms = to_tick_start_ms(tick)
        times = sorted(start_ms + int(random() * left_ms) for _ in range(visits))
        wanted, everything = self._wanted, self._wanted[-1]
        store, payer = self._store, self._customers.draw_payer
        today, hour_today = to_day(hour), to_hour_of_day(hour)
        lines, units = len(LINES), len(UNITS)
        return [
            Arrival(
                at_ms,
                int(random() * store.registers),
                payer(store.number, today, hour_today, draw),
                [
                    Want(
                        bisect(wanted, (share := random()) * everything),
                        UNITS[int(random() * units)],
                        share,
                    )
                    for _ in range(LINES[int(random() * lines)])
                ],
            )
            for at_ms in times
        ]


def compute_visits_per_hour(
    stores: Sequence[Store], receipts_per_minute: float
) -> list[list[float]]:
    """The mean number of visits of each store in each hour of the week."""
    shares = [
        [
            store.size * BY_WEEKDAY[hour // 24] * BY_HOUR[hour % 24]
            if store.is_open(hour % 24)
            else 0.0
            for hour in range(HOURS_PER_WEEK)
        ]
        for store in stores
    ]
    scale = receipts_per_minute * MINUTES_PER_WEEK / sum(map(sum, shares))
    return [[share * scale for share in week] for week in shares]


def compute_season_percent(category: str, day: int) -> int:
    """Demand for the category on the world's n-th day, in percent of the yearly mean."""
    date = START + timedelta(days=day)
    months = SEASONS[category]
    begins, ends = months[date.month - 1], months[date.month % 12]
    _, days = monthrange(date.year, date.month)
    return begins + (ends - begins) * (date.day - 1) // days
