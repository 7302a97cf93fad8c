"""The stores: their places, opening hours, and assortments."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from faker import Faker

from generators.chance import create_random
from generators.event import Event
from generators.products import Product
from generators.ticks import ANNOUNCED_MS, START_MS

OPENING_HOURS = ((7, 22), (8, 20), (6, 23), (9, 21))
ROUND_THE_CLOCK_MIN = 2  # so that stores sell at night
ROUND_THE_CLOCK_EVERY = 6
REGISTERS_MIN = 2
REGISTERS_MAX = 8
SIZE_MIN = 0.5  # visits, relative to the average store
SIZE_MAX = 1.5
KEPT_MIN = 0.6  # share of all products in the smallest assortment
TASTE_MIN = 0.5  # a product's popularity here, relative to everywhere
COUNTRY = "GB"  # its clocks show world time in March
CURRENCY = "GBP"
NEIGHBOURHOOD_MICRODEGREES = 30_000


@dataclass(frozen=True)
class Store:
    number: int
    store_id: str
    name: str
    city: str
    latitude_microdegrees: int
    longitude_microdegrees: int
    opens_at_hour: int
    closes_at_hour: int
    registers: int
    size: float
    assortment: tuple[int, ...]  # numbers of the products it keeps: one shelf each
    popularity: tuple[int, ...]  # of each shelf, relative to the others of the store

    def is_open(self, hour_of_day: int) -> bool:
        return self.opens_at_hour <= hour_of_day < self.closes_at_hour

    def introduce(self) -> Event:
        """The event that announces it, before the world begins."""
        return {
            "event_id": f"{self.store_id}-opened",
            "event_time": ANNOUNCED_MS,
            "effective_at": START_MS,
            "store_id": self.store_id,
            "name": self.name,
            "city": self.city,
            "latitude_microdegrees": self.latitude_microdegrees,
            "longitude_microdegrees": self.longitude_microdegrees,
            "currency": CURRENCY,
            "opens_at_minute": self.opens_at_hour * 60,
            "closes_at_minute": self.closes_at_hour * 60,
        }


def create_stores(seed: int, count: int, products: Sequence[Product]) -> tuple[Store, ...]:
    faker = Faker("en_GB")
    faker.seed_instance(f"{seed}/stores")
    return tuple(_store(seed, number, faker, products) for number in range(count))


def _store(seed: int, number: int, faker: Faker, products: Sequence[Product]) -> Store:
    draw = create_random(seed, "store", number)
    place = faker.local_latlng(country_code=COUNTRY)
    if place is None:
        raise LookupError(f"Faker knows no places in {COUNTRY}")
    latitude, longitude, city, *_ = place
    opens, closes = OPENING_HOURS[number % len(OPENING_HOURS)]
    if number < ROUND_THE_CLOCK_MIN or number % ROUND_THE_CLOCK_EVERY == 0:
        opens, closes = 0, 24
    kept = _draw_assortment(seed, number, products)
    return Store(
        number=number,
        store_id=f"S{number:03d}",
        name=f"{city}, {faker.street_name()}",
        city=city,
        latitude_microdegrees=_to_microdegrees(latitude, draw.random()),
        longitude_microdegrees=_to_microdegrees(longitude, draw.random()),
        opens_at_hour=opens,
        closes_at_hour=closes,
        registers=REGISTERS_MIN + int(draw.random() * (REGISTERS_MAX - REGISTERS_MIN + 1)),
        size=SIZE_MIN + draw.random() * (SIZE_MAX - SIZE_MIN),
        assortment=tuple(kept),
        popularity=tuple(kept.values()),
    )


def _draw_assortment(seed: int, number: int, products: Sequence[Product]) -> dict[int, int]:
    """The store's products with their popularity in it; every store keeps the first product."""
    draw = create_random(seed, "assortment", number)
    share = KEPT_MIN + draw.random() * (1 - KEPT_MIN)
    return {
        n: max(1, int(product.popularity * (TASTE_MIN + draw.random())))
        for n, product in enumerate(products)
        if draw.random() < share or n == 0
    }


def _to_microdegrees(degrees: str, neighbourhood: float) -> int:
    # Two stores in one city do not stand on the same spot.
    aside = int((neighbourhood - 0.5) * NEIGHBOURHOOD_MICRODEGREES)
    return int(Decimal(degrees) * 1_000_000) + aside
