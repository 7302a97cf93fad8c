"""The physical shelves of one store."""

from collections.abc import Collection, Sequence

from generators.demand import UNITS_PER_RECEIPT_MEAN
from generators.event import Event
from generators.parameters import Refill
from generators.products import HOURS_PER_DAY, LEAD_TIME_HOURS_MAX, Product
from generators.stores import Store
from generators.supply import Supply

UNITS_MIN = 6  # on a full shelf
COVER_DAYS = 1  # of mean demand, on a full shelf
SPARE_DAYS = 1  # that the first goods of a shelf last beyond the lead time
AHEAD_DAYS = -(-LEAD_TIME_HOURS_MAX // HOURS_PER_DAY) + SPARE_DAYS
"""The days that the first goods have to last at most."""
OVERSTOCK_FACTOR = 8  # at the usual price it lasts for more than a week
ORDER_BELOW_SHARE = 0.25  # of a full shelf: a busy day leaves some empty before the van comes


class Shelves:
    """Physical units, one number per shelf; they never fall below zero.

    A shelf's number is its place in the store's assortment.
    """

    def __init__(
        self,
        seed: int,
        store: Store,
        products: Sequence[Product],
        visits_per_day: float,
        refill: Refill = "vans",
        overstocked: Collection[int] = (),
    ) -> None:
        """`overstocked`: numbers of the products of which too much lies there at the opening."""
        kept = [products[number] for number in store.assortment]
        self._visits_per_day = visits_per_day
        self.skus = [product.sku for product in kept]
        self.place = {sku: shelf for shelf, sku in enumerate(self.skus)}
        self.prices_cents = [product.unit_price_cents for product in kept]
        self.full: list[int] = []  # units on each full shelf, today
        self.units = [0] * len(kept)
        self.moved: dict[str, int] = {}  # units by sku, since the last page of the ledger
        self.missed = [0] * len(kept)  # wanted units that were not there
        # Units that left the shelf without a record.
        self.unrecorded = [0] * len(kept)
        self.packs_units = [product.pack_size_units for product in kept]
        self.supply = Supply(seed, store, self.packs_units, refill)
        # Vans come within hours; a shelf that is refilled by orders has to last the lead time.
        self._cover_days = [
            COVER_DAYS
            if refill == "vans"
            else -(-product.lead_time_hours // HOURS_PER_DAY) + SPARE_DAYS
            for product in kept
        ]
        self._overstocked = {
            shelf for shelf, number in enumerate(store.assortment) if number in overstocked
        }
        self._assortment = store.assortment
        self._order_below: list[int] = []

    def compute_opening(self, ahead: Sequence[Sequence[int]]) -> list[int]:
        """The first units of each shelf: its demand until goods arrive. `ahead`: demand by day.

        Of an overstocked product there are OVERSTOCK_FACTOR times as many.
        """
        by_day = [self._estimate_demand(wanted) for wanted in ahead]
        usual = [
            UNITS_MIN + int(sum(units[shelf] for units in by_day[:days]))
            for shelf, days in enumerate(self._cover_days)
        ]
        return [
            units * OVERSTOCK_FACTOR if shelf in self._overstocked else units
            for shelf, units in enumerate(usual)
        ]

    def begin_day(self, wanted: Sequence[int]) -> None:
        """Set today's capacity: it follows the relative demand."""
        self.full = [UNITS_MIN + int(units * COVER_DAYS) for units in self._estimate_demand(wanted)]
        self._order_below = [int(units * ORDER_BELOW_SHARE) for units in self.full]

    def _estimate_demand(self, wanted: Sequence[int]) -> list[float]:
        """Units of each shelf that an average day's customers want."""
        units = self._visits_per_day * UNITS_PER_RECEIPT_MEAN / sum(wanted)
        return [share * units for share in wanted]

    def put(self, shelf: int, units: int) -> None:
        sku = self.skus[shelf]
        self.units[shelf] += units
        self.moved[sku] = self.moved.get(sku, 0) + units

    def take(self, shelf: int, wanted: int) -> int:
        """Take the units wanted, or those that are left; order more when few remain."""
        there = self.units[shelf]
        units = wanted if wanted < there else there
        if units < wanted:
            self.missed[shelf] += wanted - units
        if units:
            sku = self.skus[shelf]
            left = self.units[shelf] = there - units
            self.moved[sku] = self.moved.get(sku, 0) - units
            if left < self._order_below[shelf]:
                self.order(shelf)
        return units

    def create_line(self, shelf: int, units: int, price_cents: int) -> Event:
        """A line of a receipt or a refund."""
        return {"sku": self.skus[shelf], "units": units, "unit_price_cents": price_cents}

    def order(self, shelf: int) -> None:
        """Order the missing units of a shelf, unless few are missing or goods are on their way."""
        left = self.units[shelf]
        if left < self._order_below[shelf] and shelf not in self.supply.awaited:
            self.supply.order(shelf, self.full[shelf] - left)

    def price(self, cents: Sequence[int]) -> None:
        """Set the prices, in cents, one per product of the retailer."""
        self.prices_cents = [cents[number] for number in self._assortment]
