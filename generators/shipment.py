"""A shipment on its way to a store, and its events."""

from collections.abc import Sequence
from typing import NamedTuple

from generators.event import Event


class Load(NamedTuple):
    """Some units for one shelf."""

    shelf: int
    dispatched_units: int
    received_units: int  # the units that the store will count


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

    def dispatch(self, store_id: str, skus: Sequence[str], at_ms: int) -> Event:
        lines = [_create_line(skus, load, 0) for load in self.loads]
        return self._build_event(store_id, "dispatched", at_ms, lines)

    def receive(self, store_id: str, skus: Sequence[str]) -> Event:
        lines = [_create_line(skus, load, load.received_units) for load in self.loads]
        return self._build_event(store_id, "received", self.arrives_ms, lines)

    def _build_event(self, store_id: str, status: str, at_ms: int, lines: list[Event]) -> Event:
        return {
            "event_id": f"{self.shipment_id}-{status}",
            "event_time": at_ms,
            "store_id": store_id,
            "shipment_id": self.shipment_id,
            "purchase_order_id": self.order_id,
            "status": status,
            "lines": lines,
        }


def _create_line(skus: Sequence[str], load: Load, received_units: int) -> Event:
    return {
        "sku": skus[load.shelf],
        "dispatched_units": load.dispatched_units,
        "received_units": received_units,
    }
