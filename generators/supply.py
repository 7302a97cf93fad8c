"""Deliveries: every few hours a van leaves for a store with the goods that its shelves lack.

Where the world is refilled by orders, only confirmed orders leave.
"""

from collections.abc import Sequence
from typing import NamedTuple

from generators.chance import create_random
from generators.event import Event
from generators.parameters import Refill
from generators.stores import Store
from generators.ticks import HOUR_MS, START_MS, TICK_MS, TICKS_PER_HOUR

VAN_EVERY_MS = 4 * HOUR_MS
STAGGER_MS = 17 * TICK_MS  # no van is due at two stores at once
TRAVEL_MS = 2 * HOUR_MS
LINES_MAX = 100  # of a shipment; further lines make another one

LATE_SHARE = 0.1  # of the shipments
LATE_TICKS_MAX = 6 * TICKS_PER_HOUR
SHORT_SHARE = 0.04  # of the lines: some or all of their packs are missing


class Load(NamedTuple):
    """Some units for one shelf."""

    shelf: int
    dispatched_units: int
    received_units: int  # the units that the store will count
    ordered_units: int | None = None

    def record(self, skus: Sequence[str], status: str) -> Event:
        """The line of its shipment. A line that answers an order repeats what was ordered."""
        line = {
            "sku": skus[self.shelf],
            "dispatched_units": self.dispatched_units,
            "received_units": self.received_units if status == "received" else 0,
        }
        return line if self.ordered_units is None else {**line, "ordered_units": self.ordered_units}


class Confirmed(NamedTuple):
    """A supplier's confirmation of an order. Times are world milliseconds."""

    order_id: str
    store_id: str
    sku: str
    ordered_units: int
    shipped_units: int
    dispatches_ms: int
    arrives_ms: int


class Shipment(NamedTuple):
    """Goods on their way to a store."""

    shipment_id: str
    order_id: str | None
    arrives_ms: int
    loads: tuple[Load, ...]

    def record(self, store_id: str, skus: Sequence[str], status: str, at_ms: int) -> Event:
        """The event of its dispatch, or of its arrival; nothing is received at a dispatch."""
        return {
            "event_id": f"{self.shipment_id}-{status}",
            "event_time": at_ms,
            "store_id": store_id,
            "shipment_id": self.shipment_id,
            "purchase_order_id": self.order_id,
            "status": status,
            "lines": [load.record(skus, status) for load in self.loads],
        }


class Supply:
    """The orders of one store, and the goods on their way to it."""

    def __init__(
        self, seed: int, store: Store, packs_units: Sequence[int], refill: Refill = "vans"
    ) -> None:
        """`packs_units`: units per pack, by shelf; only whole packs are delivered."""
        self._by_vans = refill == "vans"
        self._planned: list[tuple[int, Shipment]] = []  # dispatch time and shipment
        self._seed = seed
        self._store_id = store.store_id
        self._packs_units = packs_units
        self._phase_ms = START_MS + store.number * STAGGER_MS % VAN_EVERY_MS
        self._sent = 0
        self._ordered: list[tuple[int, int]] = []  # shelf and packs
        self._underway: list[Shipment] = []
        self.awaited: set[int] = set()  # shelves whose goods are ordered

    def order(self, shelf: int, units: int) -> None:
        """Order the packs that hold these units, with the next van; without vans, do nothing."""
        if not self._by_vans:
            return
        self._ordered.append((shelf, -(-units // self._packs_units[shelf])))
        self.awaited.add(shelf)

    def plan(self, shelf: int, confirmed: Confirmed) -> None:
        """Plan the shipment of a confirmed order for its dispatch time."""
        shipped_units = confirmed.shipped_units
        load = Load(shelf, shipped_units, shipped_units, confirmed.ordered_units)
        order_id = confirmed.order_id
        shipment = Shipment(order_id, order_id, confirmed.arrives_ms, (load,))
        self._planned.append((confirmed.dispatches_ms, shipment))

    def release_due(self, now_ms: int) -> list[Shipment]:
        """Remove and return the shipments that leave now: planned ones or vans."""
        if not self._by_vans:
            return self._release_planned(now_ms)
        if (now_ms - self._phase_ms) % VAN_EVERY_MS:
            return []
        ordered, self._ordered = self._ordered, []
        leaving = [
            self._send_van(ordered[first : first + LINES_MAX], now_ms)
            for first in range(0, len(ordered), LINES_MAX)
        ]
        self._underway += leaving
        return leaving

    def unload_due(self, until_ms: int) -> list[Shipment]:
        """Remove and return the shipments that arrive before `until_ms`; vans may overtake."""
        here = [shipment for shipment in self._underway if shipment.arrives_ms < until_ms]
        if here:
            self._underway = [
                shipment for shipment in self._underway if shipment.arrives_ms >= until_ms
            ]
            self.awaited.difference_update(
                load.shelf for shipment in here for load in shipment.loads
            )
        return here

    def _release_planned(self, now_ms: int) -> list[Shipment]:
        """Release the planned shipments that are due; each arrives a tick later at the earliest."""
        leaving = [
            shipment._replace(arrives_ms=max(shipment.arrives_ms, now_ms + TICK_MS))
            for at_ms, shipment in self._planned
            if at_ms <= now_ms
        ]
        if leaving:
            self._planned = [planned for planned in self._planned if planned[0] > now_ms]
            self._underway += leaving
        return leaving

    def _send_van(self, ordered: Sequence[tuple[int, int]], now_ms: int) -> Shipment:
        self._sent += 1
        draw = create_random(self._seed, self._store_id, self._sent, "shipment")
        late_ticks = int(draw.random() * LATE_TICKS_MAX) if draw.random() < LATE_SHARE else 0
        arrives_ms = now_ms + TRAVEL_MS + late_ticks * TICK_MS
        loads = []
        for shelf, packs in ordered:
            there = int(draw.random() * packs) if draw.random() < SHORT_SHARE else packs
            units = self._packs_units[shelf]
            loads.append(Load(shelf, packs * units, there * units))
        return Shipment(f"{self._store_id}-V{self._sent}", None, arrives_ms, tuple(loads))
