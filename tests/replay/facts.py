"""Facts drawn anew: prices, plans, terms and places that change all the time, with any notice."""

from collections.abc import Sequence
from random import Random

from contracts import PRICE_CHANGES, PRODUCTS, PROMOTIONS
from generators.event import Event, Publication
from generators.ticks import TICK_MS, to_tick_start_ms

NOTICE_MINUTES = (-10, 15)
"""How long before it is to hold a fact is published, at the least and at the most."""
STARTS_MINUTES_MAX, LASTS_MINUTES_MAX = 90, 600
"""Of a promotion: how long after its plan holds it begins, and how long it lasts."""


def draw_version(known: Sequence[Publication], tick: int, chance: Random) -> Publication:
    """One of those known becomes another; it is published in the world minute."""
    one = chance.choice(known)
    now_ms = to_tick_start_ms(tick) + chance.randrange(TICK_MS)
    effective_ms = now_ms + chance.randint(*(minutes * TICK_MS for minutes in NOTICE_MINUTES))
    changed = {
        **one.event,
        **draw_change(one, effective_ms, chance),
        "event_id": f"fact-{tick}",
        "event_time": min(now_ms, effective_ms),
        "effective_at": effective_ms,
    }
    return one._replace(published_ms=now_ms, event=changed)


def draw_change(one: Publication, effective_ms: int, chance: Random) -> Event:
    if one.topic == PRICE_CHANGES.name:
        return {"price_cents": one.event["price_cents"] * chance.choice((1, 3))}
    if one.topic == PROMOTIONS.name:
        starts_ms = effective_ms + chance.randint(0, STARTS_MINUTES_MAX) * TICK_MS
        return {
            "starts_at": starts_ms,
            "ends_at": starts_ms + chance.randint(1, LASTS_MINUTES_MAX) * TICK_MS,
            "price_cents": chance.randint(0, one.event["usual_price_cents"]),
        }
    if one.topic == PRODUCTS.name:
        return {
            "unit_cost_cents": one.event["unit_cost_cents"] + chance.randint(1, 100),
            "pack_size_units": chance.randint(1, 24),
            "lead_time_days": chance.randint(1, 5),
        }
    return {
        "latitude_microdegrees": one.event["latitude_microdegrees"] + chance.randrange(3_000_000)
    }
