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
        self.on_hand: Counter[str] = Counter()
        self.in_transit: Counter[str] = Counter()

    def post(self, topic: str, event: Event) -> None:
        """Book an event. An arrival ends the transit of all its units, missing ones included."""
        if topic == ADJUSTMENTS.name:
            self.on_hand[event["sku"]] += event["units"]
        elif topic == RECEIPTS.name:
            for line in event["lines"]:
                self.on_hand[line["sku"]] -= line["units"]
        elif topic == REFUNDS.name:
            for line in event["lines"]:
                self.on_hand[line["sku"]] += line["units"]
        elif topic == SHIPMENTS.name:
            self._post_shipment(event)

    def _post_shipment(self, event: Event) -> None:
        if event["status"] == "received":
            for line in event["lines"]:
                self.in_transit[line["sku"]] -= line["dispatched_units"]
                self.on_hand[line["sku"]] += line["received_units"]
        else:
            for line in event["lines"]:
                self.in_transit[line["sku"]] += line["dispatched_units"]


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
        columns = {
            "book_units": self._book.on_hand,
            "transit_units": self._book.in_transit,
            "unreadable_units": self._unreadable.on_hand,
            "unreadable_transit_units": self._unreadable.in_transit,
            "physical_units": physical,
        }
        movements = []
        for sku in dict.fromkeys(chain(*columns.values())):
            units = {name: column.get(sku, 0) for name, column in columns.items()}
            if any(units.values()):
                movements.append({"sku": sku, **units})
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
