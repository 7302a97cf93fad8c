"""The ledger: per store and tick, the units as published and the physical units.

Only the scorer may read it.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from generators.delivery_queue import Record
from generators.event import UNREADABLE, Dirt, Event

QUIET_TICKS_MAX = 10  # a page at least this often, even without a movement


class Account:
    """Units by sku: the change of stock and of goods in transit."""

    def __init__(self) -> None:
        self.on_hand: dict[str, int] = {}
        self.in_transit: dict[str, int] = {}

    def post(self, topic: str, event: Event) -> None:
        on_hand = self.on_hand
        if topic == RECEIPTS.name:
            for line in event["lines"]:
                sku = line["sku"]
                on_hand[sku] = on_hand.get(sku, 0) - line["units"]
        elif topic == REFUNDS.name:
            for line in event["lines"]:
                _add(on_hand, line["sku"], line["units"])
        elif topic == SHIPMENTS.name:
            self._ship(event["lines"], arrived=event["status"] == "received")
        elif topic == ADJUSTMENTS.name:
            _add(on_hand, event["sku"], event["units"])

    def _ship(self, lines: list[Event], arrived: bool) -> None:
        """Book a shipment. An arrival ends the transit of all its units, missing ones included."""
        for line in lines:
            sku, units = line["sku"], line["dispatched_units"]
            _add(self.in_transit, sku, -units if arrived else units)
            if arrived:
                _add(self.on_hand, sku, line["received_units"])


class Page:
    """One store's page while it is being written.

    A record is counted under one kind of dirt: the second copy of a late event is a duplicate.
    """

    def __init__(self) -> None:
        self._book = Account()
        self._unreadable = Account()
        self._dirt: Counter[Dirt] = Counter()

    def note(self, record: Record) -> None:
        """Book an event once, whether its record is on time or late, readable or not."""
        dirt = record.dirt
        if dirt:
            self._dirt[dirt] += 1
            if dirt is Dirt.DUPLICATE:
                return
            if dirt in UNREADABLE:
                self._unreadable.post(record.topic, record.event)
        self._book.post(record.topic, record.event)

    def close(
        self,
        store_id: str,
        tick: int,
        closed_ms: int,
        physical: dict[str, int],
        positions: Mapping[str, int],
    ) -> Event | None:
        """The page, or None where nothing happened and the last one is recent.

        `positions`: by topic, the records in the store's partition, including this tick's.
        """
        book, unreadable = self._book, self._unreadable
        columns = (
            book.on_hand,
            book.in_transit,
            unreadable.on_hand,
            unreadable.in_transit,
            physical,
        )
        on_hand, transit, lost, lost_transit, real = (column.get for column in columns)
        movements = [
            {
                "sku": sku,
                "book_units": on_hand(sku, 0),
                "transit_units": transit(sku, 0),
                "unreadable_units": lost(sku, 0),
                "unreadable_transit_units": lost_transit(sku, 0),
                "physical_units": real(sku, 0),
            }
            for sku in dict.fromkeys(chain(*columns))
            if on_hand(sku) or real(sku) or transit(sku) or lost(sku) or lost_transit(sku)
        ]
        if not movements and not self._dirt and tick % QUIET_TICKS_MAX:
            return None
        return {
            "store_id": store_id,
            "tick": tick,
            "world_at": closed_ms,
            "positions": [
                {"topic": topic, "records": records} for topic, records in positions.items()
            ],
            "movements": movements,
            "duplicates": self._dirt[Dirt.DUPLICATE],
            "late": self._dirt[Dirt.LATE],
            "beyond_horizon": self._dirt[Dirt.BEYOND_HORIZON],
            "future": self._dirt[Dirt.FUTURE],
            "malformed": self._dirt[Dirt.MALFORMED],
            "unknown_schema": self._dirt[Dirt.UNKNOWN_SCHEMA],
            "broken_rule": self._dirt[Dirt.BROKEN_RULE],
        }


def _add(units: dict[str, int], sku: str, more: int) -> None:
    units[sku] = units.get(sku, 0) + more
