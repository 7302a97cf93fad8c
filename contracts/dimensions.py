"""Dimensions: topics whose records hold for a key from a moment on (a price, a product, a store).

Each record is a version of its key. The record alone says from when on the version holds: NOTICE
after its publication at the earliest. So an as-of join finds the same version live and replayed.
"""

from collections.abc import Mapping
from datetime import timedelta

from contracts.catalog import PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES
from contracts.shape import Contract
from contracts.times import MILLISECOND

DIMENSIONS: Mapping[str, Contract] = {
    topic.name: topic for topic in (PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES)
}
"""The topics of dimensions, by name. `effective_at` says from when on a record shall hold."""

ON_ITS_WAY = timedelta(minutes=5)
"""The longest time from a version's record timestamp until the log holds it, in world time."""

NOTICE = timedelta(minutes=10)
"""The shortest time from a version's publication until it holds.

The moment that an event names is ahead of its publication by the contracts' skew at most. The
version that holds then was published at least ON_ITS_WAY before the event, so the log has it.
"""


def holds_from(effective_ms: int, published_ms: int) -> int:
    """When a version begins to hold: at its `effective_at`, or NOTICE after its publication."""
    return max(effective_ms, published_ms + NOTICE // MILLISECOND)
