"""Losses: units that leave a shelf unsold, with or without a record."""

from enum import Enum
from random import Random
from typing import NamedTuple

from generators.chance import create_random
from generators.demand import Arrival
from generators.stores import Store

LOSSES_PER_RECEIPT = 0.01
UNITS_MAX = 3
MINUTES_PER_HOUR = 60

COUNTED_EVERY_HOURS = 48  # staff count every shelf once in this time, some each hour


class Kind(Enum):
    DAMAGE = "damage"
    THEFT = "theft"  # an empty box was found
    UNSEEN = "unseen"  # unknown until staff count the shelf


KINDS = (Kind.DAMAGE, Kind.DAMAGE, Kind.THEFT, Kind.UNSEEN, Kind.UNSEEN)


class Loss(NamedTuple):
    minute: int  # of the hour
    kind: Kind
    shelf: int
    units: int  # at most: a shelf may hold fewer


def draw_losses(seed: int, store: Store, hour: int, arrivals: list[Arrival]) -> list[Loss]:
    """The losses of the world's n-th hour, in order; their number grows with the visits."""
    draw = create_random(seed, store.store_id, hour, "losses")
    baskets = [arrival.wants for arrival in arrivals]
    count = int(len(baskets) * LOSSES_PER_RECEIPT + draw.random())
    return sorted(
        (_draw_loss(draw, baskets) for _ in range(count if baskets else 0)),
        key=lambda loss: loss.minute,
    )


def choose_counted(shelves: int, hour: int) -> range:
    """The shelves that the staff count in the world's n-th hour."""
    part = hour % COUNTED_EVERY_HOURS
    return range(part * shelves // COUNTED_EVERY_HOURS, (part + 1) * shelves // COUNTED_EVERY_HOURS)


def _draw_loss(draw: Random, baskets: list[list[tuple[int, int]]]) -> Loss:
    # Customers drop and steal what they also buy.
    basket = baskets[int(draw.random() * len(baskets))]
    return Loss(
        minute=int(draw.random() * MINUTES_PER_HOUR),
        kind=KINDS[int(draw.random() * len(KINDS))],
        shelf=basket[int(draw.random() * len(basket))][0],
        units=1 + int(draw.random() * UNITS_MAX),
    )
