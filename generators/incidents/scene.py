"""The scene of a planned incident: its place and time, and the people who may take part."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import asin, cos, inf, radians, sin, sqrt
from random import Random

from generators.customers import Customers, Payer
from generators.incidents.deed import Deed
from generators.stores import Store
from generators.ticks import HOUR_MS, TICK_MS

MINUTE_MS = TICK_MS
EARTH_KM = 6371


@dataclass(frozen=True)
class Scene:
    """The store, time and people of a planned incident, with its random draws."""

    store: Store
    starts_ms: int
    until_ms: int  # the store closes, or another shift begins
    stores: Sequence[Store]
    customers: Customers
    draw: Random

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

    def choose_till(self) -> int:
        return int(self.draw.random() * self.store.registers)

    def choose_payer(self, store: Store | None = None, known: bool = False) -> Payer:
        """A payer with a card that is used for nothing else on these days."""
        at = store or self.store
        return self.customers.cast(at.number, self.draw.random(), known)

    def draw_times_ms(self, count: int, span_ms: int) -> list[int]:
        """Random times in order, in epoch milliseconds; the first is the scene's start."""
        span_ms = max(1, min(span_ms, self.left_ms))
        later = sorted(int(self.draw.random() * span_ms) for _ in range(count - 1))
        return [self.starts_ms, *(self.starts_ms + after for after in later)]

    def list_others(self, km_min: float = 0, km_max: float = inf) -> list[tuple[float, Store]]:
        """Other open stores within these distances, with kilometres, the nearest first."""
        hour_of_day = self.starts_ms // HOUR_MS % 24
        stores = [
            (compute_kilometres(self.store, other), other)
            for other in self.stores
            if other is not self.store and other.is_open(hour_of_day)
        ]
        return sorted(
            (at for at in stores if km_min <= at[0] <= km_max), key=lambda at: (at[0], at[1].number)
        )


def plan_purchase(
    scene: Scene,
    payer: Payer,
    lines: int,
    units: int = 1,
    goods: str = "dear",
    delay_ms: int = 0,
    after_ms: int = 0,
) -> Deed:
    """A purchase of `units` of each of `lines` products, at any till."""
    return Deed(
        scene.starts_ms + after_ms,
        scene.store.number,
        scene.choose_till(),
        "buy",
        payer,
        goods,
        lines,
        units,
        delay_ms=delay_ms,
    )


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
