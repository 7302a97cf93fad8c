"""Returns: goods that customers bring back, hours or days after they bought them."""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

from generators.chance import create_random
from generators.event import Event
from generators.ticks import HOUR_MS

RETURNED_SHARE = 0.02  # of the receipts
AFTER_MS_MIN = HOUR_MS // 2
AFTER_MS_MAX = 48 * HOUR_MS
RECEIPT_LOST_SHARE = 0.1
BROKEN_SHARE = 0.15  # the money is paid back, the goods are not sold again


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

    def dump_state(self) -> list[Return]:
        return self._ahead

    def restore(self, state: list[list[int | str | None]]) -> None:
        self._ahead = [Return._make(one) for one in state]
        heapify(self._ahead)
