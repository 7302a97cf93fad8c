"""Facts: what holds of a key from a moment on (a price, a plan, a product, a store).

From when on is decided by the record alone, so that whoever looks a fact up finds the same, live
and replayed: it needs notice.
"""

from collections.abc import Mapping
from datetime import timedelta

from contracts.catalog import PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES
from contracts.shape import Contract

FACTS: Mapping[str, Contract] = {
    topic.name: topic for topic in (PRICE_CHANGES, PRODUCTS, PROMOTIONS, STORES)
}
"""The topics of facts, by name. Each record says in `effective_at` from when on it is to hold."""

ON_ITS_WAY = timedelta(minutes=5)
"""How long in world time a fact may take, from the time it is stamped with, into the log."""

NOTICE = timedelta(minutes=10)
"""How long after it was published a fact holds at the earliest.

An event names a moment that lies ahead of its own publishing by the contracts' skew at the most.
What holds at that moment was published ON_ITS_WAY before the event, or earlier, and is in the log.
"""


def holds_from(effective_ms: int, published_ms: int) -> int:
    """When a fact begins to hold: when it says, or as soon as it has had its notice."""
    return max(effective_ms, published_ms + NOTICE // timedelta(milliseconds=1))
