"""The catalog, announced before the world begins: products and stores."""

from generators.event import Event
from generators.products import Product
from generators.stores import Store
from generators.ticks import ANNOUNCED_MS, START_MS


def introduce_product(product: Product) -> Event:
    return {
        **announce(f"{product.sku}-introduced"),
        "sku": product.sku,
        "name": product.name,
        "category": product.category,
        "supplier_id": product.supplier_id,
        "unit_cost_cents": product.unit_cost_cents,
        "pack_size_units": product.pack_size_units,
        "lead_time_days": product.lead_time_days,
    }


def open_store(store: Store) -> Event:
    return {
        **announce(f"{store.store_id}-opened"),
        "store_id": store.store_id,
        "name": store.name,
        "city": store.city,
        "latitude_microdegrees": store.latitude_microdegrees,
        "longitude_microdegrees": store.longitude_microdegrees,
        "opens_at_minute": store.opens_at_hour * 60,
        "closes_at_minute": store.closes_at_hour * 60,
    }


def announce(event_id: str) -> Event:
    """The shared fields of every catalog event: it holds from the world's beginning."""
    return {"event_id": event_id, "event_time": ANNOUNCED_MS, "effective_at": START_MS}
