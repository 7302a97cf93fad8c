"""The ledger: per store and tick, what was published and what really happened.

Only the scorer may read it.
"""

from collections import Counter
from collections.abc import Mapping

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from generators.event import Event
from generators.outbox import Dirt, Record

QUIET_TICKS_MAX = 10  # the ledger beats at least this often, moved or not


class Page:
    """One store's page while it is being written.

    A record is counted under one kind of dirt: the second copy of a late event is a duplicate.
    """

    def __init__(self) -> None:
        self._book: dict[str, int] = {}  # units by sku
        self._transit: dict[str, int] = {}
        self._dirt: Counter[Dirt] = Counter()

    def note(self, record: Record) -> None:
        """Book what a published record says, once per event, in time or not."""
        if record.dirt:
            self._dirt[record.dirt] += 1
            if record.dirt is Dirt.DUPLICATE:
                return
        event, book = record.event, self._book
        if record.topic == RECEIPTS.name:
            for line in event["lines"]:
                sku = line["sku"]
                book[sku] = book.get(sku, 0) - line["units"]
        elif record.topic == REFUNDS.name:
            for line in event["lines"]:
                _add(book, line["sku"], line["units"])
        elif record.topic == SHIPMENTS.name:
            self._ship(event["lines"], arrived=event["status"] == "received")
        elif record.topic == ADJUSTMENTS.name:
            _add(book, event["sku"], event["units"])

    def _ship(self, lines: list[Event], arrived: bool) -> None:
        """What arrives closes what was dispatched, whether all of it is there or not."""
        for line in lines:
            sku, units = line["sku"], line["dispatched_units"]
            _add(self._transit, sku, -units if arrived else units)
            if arrived:
                _add(self._book, sku, line["received_units"])

    def close(
        self,
        store_id: str,
        tick: int,
        closed_ms: int,
        physical: dict[str, int],
        positions: Mapping[str, int],
    ) -> Event | None:
        """The page, or None where nothing happened and the last one is recent.

        Positions count the records in the store's partition of each topic, this tick's included.
        """
        book, transit = self._book, self._transit
        movements = [
            {
                "sku": sku,
                "book_units": book.get(sku, 0),
                "transit_units": transit.get(sku, 0),
                "physical_units": physical.get(sku, 0),
            }
            for sku in book | transit | physical
            if book.get(sku) or transit.get(sku) or physical.get(sku)
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
        }


def _add(units: dict[str, int], sku: str, more: int) -> None:
    units[sku] = units.get(sku, 0) + more
