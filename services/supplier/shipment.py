"""The shipment for an order: a function of the order and the world's seed."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from contracts import Row


@dataclass(frozen=True)
class Reliability:
    """How reliably the supplier delivers."""

    packing: timedelta = timedelta(hours=6)  # from the order to its dispatch
    late_share: float = 0.1  # one delivery in ten, as with the simulator's own vans
    late_max: timedelta = timedelta(hours=6)
    short_share: float = 0.04  # of the deliveries: some or all packs are missing


def create_confirmation(order: Row, seed: int, reliability: Reliability) -> Row:
    """The supplier's confirmation of an order."""
    draw = Random(f"{seed}/{order['purchase_order_id']}")
    late = draw.random() < reliability.late_share
    delay = reliability.late_max * draw.random() if late else timedelta()
    packs = order["units"] // order["pack_size_units"]
    short = draw.random() < reliability.short_share
    shipped = int(draw.random() * packs) if short else packs
    dispatches_at = order["ordered_at"] + reliability.packing
    promised_at = order["ordered_at"] + timedelta(days=order["lead_time_days"])
    return {
        "purchase_order_id": order["purchase_order_id"],
        "store_id": order["store_id"],
        "sku": order["sku"],
        "ordered_units": order["units"],
        "shipped_units": shipped * order["pack_size_units"],
        "dispatches_at": dispatches_at,
        "arrives_at": max(promised_at, dispatches_at + reliability.packing) + delay,
    }
