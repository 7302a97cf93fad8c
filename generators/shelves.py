"""The shelves of one store, as they really are."""

from collections.abc import Sequence
from typing import Any

from generators.demand import UNITS_PER_RECEIPT_MEAN
from generators.products import Product
from generators.stores import Store
from generators.supply import Delivery, Vans

UNITS_MIN = 6  # on a full shelf
COVER_DAYS = 1.0  # of mean demand, on a full shelf
REFILL_BELOW_SHARE = 0.25  # of a full shelf: a busy day leaves some empty before the van comes


class Shelves:
    """Physical units, one number per shelf; they never fall below zero.

    A shelf is named by its place in the store's assortment.
    """

    def __init__(self, store: Store, products: Sequence[Product], visits_per_day: float) -> None:
        kept = [products[number] for number in store.assortment]
        self.skus = [product.sku for product in kept]
        self.prices_cents = [product.unit_price_cents for product in kept]
        self.full = _full_shelves(store, visits_per_day)
        self.units = [0] * len(kept)
        self.moved: dict[str, int] = {}  # by sku: units, since the ledger last looked
        # Units that left the shelf and that no record tells of.
        self.unrecorded = [0] * len(kept)
        self._refill_below = [int(units * REFILL_BELOW_SHARE) for units in self.full]
        self._vans = Vans(store.number)

    def put(self, shelf: int, units: int) -> None:
        sku = self.skus[shelf]
        self.units[shelf] += units
        self.moved[sku] = self.moved.get(sku, 0) + units

    def take(self, shelf: int, wanted: int, now_ms: int) -> int:
        """Take what is wanted, or what is left of it; order more when little remains."""
        there = self.units[shelf]
        units = wanted if wanted < there else there
        if units:
            sku = self.skus[shelf]
            left = self.units[shelf] = there - units
            self.moved[sku] = self.moved.get(sku, 0) - units
            if left < self._refill_below[shelf] and not self._vans.awaits(shelf):
                self._vans.order(shelf, self.full[shelf] - left, now_ms)
        return units

    def arriving(self, until_ms: int) -> list[Delivery]:
        """The refills that have come to the door by then."""
        return self._vans.arriving(until_ms)

    def state(self) -> dict[str, Any]:
        return {
            "units": self.units,
            "unrecorded": self.unrecorded,
            "underway": self._vans.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.units = list(state["units"])
        self.unrecorded = list(state["unrecorded"])
        self._vans.restore(state["underway"])


def _full_shelves(store: Store, visits_per_day: float) -> list[int]:
    """Units on each full shelf: the more popular, the more."""
    units_per_day = visits_per_day * UNITS_PER_RECEIPT_MEAN / sum(store.popularity)
    return [
        UNITS_MIN + int(popularity * units_per_day * COVER_DAYS) for popularity in store.popularity
    ]
