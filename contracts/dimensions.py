"""Dimensions: topics whose records hold for a key from a moment on (a price, a product, a store).

Each record is a version of its key. The record alone decides from when on it holds, so that every
as-of join finds the same version, live and replayed: it needs notice.
"""

from collections.abc import Mapping
from datetime import timedelta

from contracts.catalog import PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES
from contracts.shape import Contract
from contracts.times import MILLISECOND

DIMENSIONS: Mapping[str, Contract] = {
    topic.name: topic for topic in (PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES)
}
"""The topics of dimensions, by name. A record says in `effective_at` from when on it is to hold."""

ON_ITS_WAY = timedelta(minutes=5)
"""How long in world time a version may take into the log, from its record timestamp on."""

NOTICE = timedelta(minutes=10)
"""How long after it was published a version holds at the earliest.

An event names a moment that lies ahead of its own publishing by the contracts' skew at the most.
What holds at that moment was published ON_ITS_WAY before the event, or earlier, and is in the log.
"""


def holds_from(effective_ms: int, published_ms: int) -> int:
    """When a version begins to hold: when it says, or as soon as it has had its notice."""
    return max(effective_ms, published_ms + NOTICE // MILLISECOND)
