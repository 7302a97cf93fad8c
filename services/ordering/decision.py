"""The orders of a review: a function of the proposals and the units on order."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

ID_DIGITS = 24


class Shelf(NamedTuple):
    store_id: str
    sku: str


@dataclass(frozen=True)
class Proposal:
    """A row of the view; times in milliseconds since 1970."""

    shelf: Shelf
    review_ms: int
    moved_units: int
    reorder_point_units: int
    order_up_to_units: int
    pack_size_units: int
    lead_time_days: int
    measure: str | None = None
    """Units are thousandths of it; None: pieces."""


@dataclass(frozen=True)
class Order:
    shelf: Shelf
    review_ms: int
    units: int
    pack_size_units: int
    lead_time_days: int

    @property
    def order_id(self) -> str:
        return derive_order_id(self.shelf, self.review_ms)


@dataclass(frozen=True)
class Limits:
    """The limits of orders, in addition to the proposals."""

    units_per_order_max: int = 10_000  # hundreds of times what a busy shelf sells in a day
    thousandths_per_order_max: int = 1_000_000  # a tonne: a line of a shipment holds no more
    orders_per_store_max: int = 2_000  # a review: more than a store has shelves by default


def derive_order_id(shelf: Shelf, review_ms: int) -> str:
    """The id of an order, without generation and amount: every gate derives the same id."""
    named = f"{shelf.store_id}/{shelf.sku}/{review_ms}"
    return f"PO-{hashlib.sha256(named.encode()).hexdigest()[:ID_DIGITS]}"


def sum_positions(
    review_ms: int, proposals: Iterable[Proposal], ordered: Iterable[tuple[Shelf, int, int]]
) -> Mapping[Shelf, int]:
    """The units of each shelf, on it and on order, at the review.

    `ordered`: shelf, review and units of every purchase order. Those of this review do not count.
    """
    positions: Counter[Shelf] = Counter()
    for proposal in proposals:
        if proposal.review_ms <= review_ms:
            positions[proposal.shelf] += proposal.moved_units
    for shelf, at_ms, units in ordered:
        if at_ms < review_ms:
            positions[shelf] += units
    return positions


def decide(
    review_ms: int,
    proposals: Sequence[Proposal],
    ordered: Iterable[tuple[Shelf, int, int]],
    limits: Limits,
) -> list[Order]:
    """The orders of the review, the most urgent of each store first."""
    position = sum_positions(review_ms, proposals, ordered)
    wanted = [
        (position[proposal.shelf] - proposal.reorder_point_units, proposal.shelf, proposal)
        for proposal in proposals
        if proposal.review_ms == review_ms
        and position[proposal.shelf] <= proposal.reorder_point_units
    ]
    let_through: Counter[str] = Counter()
    orders = []
    for _, shelf, proposal in sorted(wanted, key=lambda want: want[:2]):
        if let_through[shelf.store_id] < limits.orders_per_store_max:
            let_through[shelf.store_id] += 1
            orders.append(create_order(proposal, position[shelf], limits))
    return orders


def create_order(proposal: Proposal, position: int, limits: Limits) -> Order:
    """An order of whole packs, up to the proposed level and within the limits."""
    pack, by_piece = proposal.pack_size_units, proposal.measure is None
    most = limits.units_per_order_max if by_piece else limits.thousandths_per_order_max
    packs = max(1, -((position - proposal.order_up_to_units) // pack))
    packs = min(packs, max(1, most // pack))
    return Order(proposal.shelf, proposal.review_ms, packs * pack, pack, proposal.lead_time_days)
