"""Returns and losses: goods that customers bring back, and units that leave a shelf unsold.

A loss is recorded at once, or found when staff count the shelf.
"""

from enum import Enum
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from generators.chance import create_random
from generators.demand import Arrival, Want
from generators.event import Event
from generators.stores import Store
from generators.ticks import HOUR_MS

RETURNED_SHARE = 0.02  # of the receipts
AFTER_MS_MIN = HOUR_MS // 2
AFTER_MS_MAX = 48 * HOUR_MS
RECEIPT_LOST_SHARE = 0.1
BROKEN_SHARE = 0.15  # the money is paid back, the goods are not sold again

LOSSES_PER_RECEIPT = 0.01
UNITS_MAX = 3
COUNTED_EVERY_HOURS = 48  # staff count every shelf once in this time, some each hour


class Return(NamedTuple):
    """Some units of one line of a receipt that a customer will bring back."""

    at_ms: int
    sold_by: str  # the receipt's event id
    sold_ms: int
    sku: str
    units: int
    unit_price_cents: int
    card_token: str | None
    receipt_lost: bool
    broken: bool

    @property
    def line(self) -> Event:
        """The goods that come back."""
        return {"sku": self.sku, "units": self.units, "unit_price_cents": self.unit_price_cents}

    @property
    def receipt(self) -> Event | None:
        """The receipt that the customer shows."""
        if self.receipt_lost:
            return None
        return {"event_id": self.sold_by, "event_time": self.sold_ms}


class Returns:
    """The future returns of one store."""

    def __init__(self, seed: int, store_id: str) -> None:
        self._seed = seed
        self._store_id = store_id
        self._ahead: list[Return] = []  # a heap; at most one per receipt
        self._random = create_random(seed, store_id, 0, "returns").random

    def begin_hour(self, hour: int) -> None:
        self._random = create_random(self._seed, self._store_id, hour, "returns").random

    def consider(self, receipt: Event) -> None:
        """Plan a return of the receipt, at random."""
        random = self._random
        if random() >= RETURNED_SHARE:
            return
        lines = receipt["lines"]
        line = lines[int(random() * len(lines))]
        heappush(
            self._ahead,
            Return(
                at_ms=receipt["event_time"]
                + AFTER_MS_MIN
                + int(random() * (AFTER_MS_MAX - AFTER_MS_MIN)),
                sold_by=receipt["event_id"],
                sold_ms=receipt["event_time"],
                sku=line["sku"],
                units=1 + int(random() * line["units"]),
                unit_price_cents=line["unit_price_cents"],
                card_token=receipt["card_token"],
                receipt_lost=random() < RECEIPT_LOST_SHARE,
                broken=random() < BROKEN_SHARE,
            ),
        )

    def take_due(self, until_ms: int) -> list[Return]:
        """Remove and return the returns before `until_ms`."""
        due = []
        while self._ahead and self._ahead[0].at_ms < until_ms:
            due.append(heappop(self._ahead))
        return due


class Kind(Enum):
    DAMAGE = "damage"
    THEFT = "theft"  # an empty box was found
    UNSEEN = "unseen"  # unknown until staff count the shelf


KINDS = (Kind.DAMAGE, Kind.DAMAGE, Kind.THEFT, Kind.UNSEEN, Kind.UNSEEN)


class Loss(NamedTuple):
    minute: int  # of the hour
    kind: Kind
    shelf: int
    units: int  # at most: a shelf may hold fewer


def draw_losses(seed: int, store: Store, hour: int, arrivals: list[Arrival]) -> list[Loss]:
    """The losses of the world's n-th hour, in order; their number grows with the visits."""
    draw = create_random(seed, store.store_id, hour, "losses")
    baskets = [arrival.wants for arrival in arrivals]
    count = int(len(baskets) * LOSSES_PER_RECEIPT + draw.random())
    return sorted(
        (_draw_loss(draw, baskets) for _ in range(count if baskets else 0)),
        key=lambda loss: loss.minute,
    )


def choose_counted(shelves: int, hour: int) -> range:
    """The shelves that the staff count in the world's n-th hour."""
    part = hour % COUNTED_EVERY_HOURS
    return range(part * shelves // COUNTED_EVERY_HOURS, (part + 1) * shelves // COUNTED_EVERY_HOURS)


def _draw_loss(draw: Random, baskets: list[list[Want]]) -> Loss:
    # Customers drop and steal what they also buy.
    basket = baskets[int(draw.random() * len(baskets))]
    return Loss(
        minute=int(draw.random() * 60),
        kind=KINDS[int(draw.random() * len(KINDS))],
        shelf=basket[int(draw.random() * len(basket))].shelf,
        units=1 + int(draw.random() * UNITS_MAX),
    )
