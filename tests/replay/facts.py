"""Facts drawn anew: prices, terms and places that change all the time, with notice and without."""

from collections.abc import Sequence
from random import Random

from contracts import PRICE_CHANGES, PRODUCTS
from generators.event import Event
from generators.numbering import Publication
from generators.ticks import TICK_MS, tick_start_ms

NOTICE_MINUTES = (-10, 15)
"""How long before it is to hold a fact is published, at the least and at the most."""


def drawn_fact(known: Sequence[Publication], tick: int, chance: Random) -> Publication:
    """One of those known becomes another; it is published in the world minute."""
    one = chance.choice(known)
    now_ms = tick_start_ms(tick) + chance.randrange(TICK_MS)
    effective_ms = now_ms + chance.randint(*(minutes * TICK_MS for minutes in NOTICE_MINUTES))
    changed = {
        **one.event,
        **another(one, chance),
        "event_id": f"fact-{tick}",
        "event_time": min(now_ms, effective_ms),
        "effective_at": effective_ms,
    }
    return one._replace(published_ms=now_ms, event=changed)


def another(one: Publication, chance: Random) -> Event:
    if one.topic == PRICE_CHANGES.name:
        return {"price_cents": one.event["price_cents"] * chance.choice((1, 3))}
    if one.topic == PRODUCTS.name:
        return {
            "unit_cost_cents": one.event["unit_cost_cents"] + chance.randint(1, 100),
            "pack_size_units": chance.randint(1, 24),
            "lead_time_days": chance.randint(1, 5),
        }
    return {
        "latitude_microdegrees": one.event["latitude_microdegrees"] + chance.randrange(3_000_000)
    }
