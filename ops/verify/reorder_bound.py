"""The cost of the cheapest orders: a bound that no way to order can beat.

The bound knows each hour's demand and each delivery in advance. It decides shelf by shelf, at each
delivery, how much arrives. The arrival hour identifies an order, so the units on the shelf are the
only state, without those on order. Backwards from the last hour, the cheapest continuation of every
stock level is exact (Bellman's principle; the model is Wagner and Whitin's, with lost sales and
packs).

It has fewer constraints than a real order: goods that arrive within an hour serve all of its
demand, and the gate's limits do not apply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cents = NDArray[np.float64]
"""The least cost from here to the end, in cents, by the units on the shelf."""


@dataclass(frozen=True)
class Terms:
    """The costs of a shelf's units, in cents."""

    pack_size_units: int
    order_cents: float
    lost_cents: float
    """The cost of a unit that a customer wanted and the shelf lacked."""
    holding_cents: float
    """The cost of a unit on the shelf at the end of an hour."""


def compute_least_cents(
    opening: int,
    wanted: Sequence[int],
    moved: Sequence[int],
    shares: Mapping[int, Sequence[float]],
    terms: Terms,
) -> float:
    """The least possible cost of holding, ordering and lost sales for a shelf.

    `wanted` and `moved`: by hour, the units that customers wanted, and the units that came or went
    besides sales and deliveries. `shares`: by the hour of arrival, which share of the packs each
    possible order brings.
    """
    after = np.zeros(compute_units_max(opening, wanted, moved, terms) + 1)
    for hour in reversed(range(len(wanted))):
        after = step_hour(after, wanted[hour], moved[hour], terms)
        for share in shares.get(hour, ()):
            if share > 0:
                after = choose_order(after, terms)
    return float(after[opening])


def compute_units_max(
    opening: int, wanted: Sequence[int], moved: Sequence[int], terms: Terms
) -> int:
    """The most units on a shelf in a cheapest plan: all future demand, and a pack."""
    returned = sum(units for units in moved if units > 0)
    lost = sum(-units for units in moved if units < 0)
    return opening + sum(wanted) + returned + lost + terms.pack_size_units


def step_hour(after: Cents, wanted: int, moved: int, terms: Terms) -> Cents:
    """The cost before an hour's demand, where `after` is the cost after the hour."""
    units = np.arange(after.size)
    left = np.clip(np.maximum(units - wanted, 0) + moved, 0, after.size - 1)
    cost: Cents = (
        np.maximum(wanted - units, 0) * terms.lost_cents + left * terms.holding_cents + after[left]
    )
    return cost


def choose_order(after: Cents, terms: Terms) -> Cents:
    """The cost before a possible delivery, of the cheapest number of packs, or of none.

    A delivery can bring every whole number of packs: of `n` ordered packs the whole ones of the
    share arrive, and one more ordered pack brings at most one more.
    """
    pack = terms.pack_size_units
    rows = -(-after.size // pack) + 1
    padded = np.full(rows * pack, np.inf)
    padded[: after.size] = after
    packs = padded.reshape(rows, pack)
    cheapest = np.minimum.accumulate(packs[::-1])[::-1]  # of so many units, or whole packs more
    more = np.vstack([cheapest[1:], np.full((1, pack), np.inf)]).reshape(-1)[: after.size]
    return np.minimum(after, more + terms.order_cents)
