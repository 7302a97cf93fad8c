"""Worlds that fill a day of the log in a moment."""

from typing import Any

from infra.settings import Settings


def shrink_world(
    settings: Settings, stores: int, products: int, receipts_per_second: float, **changes: Any
) -> Settings:
    """Settings of a world of this size; `changes` are other settings by their names."""
    world = {
        "simulator_refill": "vans",
        "simulator_stores": stores,
        "simulator_products": products,
        "simulator_receipts_per_second": receipts_per_second,
    }
    return settings.model_copy(update=world | changes)
