"""The scene of a planned incident, and the deeds that people do in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import asin, cos, inf, radians, sin, sqrt
from random import Random
from typing import Any, NamedTuple

from generators.customers import CASH, Customers, Payer
from generators.stores import Store
from generators.ticks import HOUR_MS, TICK_MS

MINUTE_MS = TICK_MS
EARTH_KM = 6371
NOBODYS = -1  # no receipt


class Deed(NamedTuple):
    """A purchase or a return at a till."""

    at_ms: int
    store: int
    till: int
    does: str  # buy, or return
    payer: Payer = CASH
    goods: str = "usual"  # or the dearest or the cheapest of some: dear, cheap
    lines: int = 1
    units: int = 1  # of each line
    percent: int = 100  # of the price, on reduced lines; of the bought units, in a return
    reduced_lines: int = 0  # lines sold below the price
    packs_hundredths: int = 0  # of each line, instead of units
    cents: int = 0  # the value of a return without a receipt
    receipt: int = NOBODYS  # the deed that bought what is returned, or bought again
    invented: bool = False  # the refund names a receipt that was never issued
    real: bool = True  # whether any goods come back
    counts: bool = False  # whether it adds to the incident's strength
    delay_ms: int = 0  # from the event to its publication


Deeds = Iterator[Deed]


@dataclass
class Scene:
    """The store, time and people of a planned incident, with its random draws."""

    store: Store
    starts_ms: int
    until_ms: int  # the store closes, or another shift begins
    stores: Sequence[Store]
    customers: Customers
    draw: Random
    strength: int = 0  # known beforehand; the counts of the deeds are added

    @property
    def left_ms(self) -> int:
        return self.until_ms - self.starts_ms

    def draw_between(self, low: float, high: float) -> float:
        return low + self.draw.random() * (high - low)

    def draw_whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.draw.random() * (high - low + 1))

    def draw_minutes_ms(self, low: float, high: float) -> int:
        """A random span, in milliseconds."""
        return int(self.draw_between(low, high) * MINUTE_MS)

    def choose_till(self, store: Store | None = None) -> int:
        """A till here, or in another store."""
        return int(self.draw.random() * (store or self.store).registers)

    def choose_payer(self, has_id: bool = False) -> Payer:
        """A payer with a card that is used for nothing else on these days."""
        return self.customers.cast(self.store.number, self.draw.random(), has_id)

    def draw_times_ms(self, count: int, span_ms: int) -> list[int]:
        """Random times in order, in milliseconds after the scene's start; the first is zero."""
        span_ms = max(1, min(span_ms, self.left_ms))
        return [0, *sorted(int(self.draw.random() * span_ms) for _ in range(count - 1))]

    def list_others(self, km_min: float = 0, km_max: float = inf) -> list[tuple[float, Store]]:
        """Other open stores within these distances, with kilometres, the nearest first."""
        hour_of_day = self.starts_ms // HOUR_MS % 24
        stores = [
            (compute_kilometres(self.store, other), other)
            for other in self.stores
            if other is not self.store and other.is_open(hour_of_day)
        ]
        return sorted(
            (place for place in stores if km_min <= place[0] <= km_max),
            key=lambda place: (place[0], place[1].number),
        )

    def plan(
        self,
        does: str,
        payer: Payer,
        after_ms: int = 0,
        *,
        till: int | None = None,
        store: Store | None = None,
        goods: str = "dear",
        **details: Any,
    ) -> Deed:
        """A deed here, or in another store; at any till, or at this one.

        `details`: other fields of the deed.
        """
        place = store or self.store
        if till is None:
            till = self.choose_till(place)
        return Deed(self.starts_ms + after_ms, place.number, till, does, payer, goods, **details)


Story = Callable[[Scene], Deeds]
"""A story plans its deeds in the order in which they are drawn; none: the scene does not suit."""


@dataclass(frozen=True)
class Stories:
    """The stories that test one rule."""

    frauds: tuple[Story, ...]
    look_alikes: tuple[Story, ...]
    """Innocent stories, each with its own reason."""


def compute_kilometres(a: Store, b: Store) -> float:
    """The great-circle distance."""
    lat_a, lon_a, lat_b, lon_b = (
        radians(degrees / 1e6)
        for degrees in (
            a.latitude_microdegrees,
            a.longitude_microdegrees,
            b.latitude_microdegrees,
            b.longitude_microdegrees,
        )
    )
    chord = sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(chord))
