"""The orders for shelves: a function of their levels, their moves, and what is on order.

Every minute is answered in turn, whenever that is done, so that a gate that was away gives the same
orders later.
"""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from services.moves import DAY_MS, Moves

ID_DIGITS = 24


class Shelf(NamedTuple):
    store_id: str
    sku: str


@dataclass(frozen=True)
class Level:
    """When to order for a shelf and how much, from a moment on; in milliseconds since 1970."""

    since_ms: int
    reorder_point_units: int
    order_up_to_units: int
    pack_size_units: int
    lead_time_days: int
    lead_time_hours: int = 0
    measure: str | None = None
    """Units are thousandths of it; None: pieces."""
    review_days: int = 0
    """0: the position is looked at whenever it changes; 1: at reviews only."""
    points: tuple[int, ...] = ()
    """The reorder point at equal steps of each day from `since_ms` on, both ends included; on a
    line between them. Empty: `reorder_point_units`, which is the highest."""

    def find_point(self, moment_ms: int) -> int:
        """The reorder point of a moment, in units."""
        if not self.points:
            return self.reorder_point_units
        steps = len(self.points) - 1
        step, rest = divmod((moment_ms - self.since_ms) % DAY_MS * steps, DAY_MS)
        point, after = self.points[step : step + 2]
        return point + (after - point) * rest // DAY_MS


@dataclass(frozen=True)
class Order:
    """`moment_ms`: the whole minute that it answers."""

    shelf: Shelf
    moment_ms: int
    units: int
    level: Level

    @property
    def order_id(self) -> str:
        return derive_order_id(self.shelf, self.moment_ms)


@dataclass(frozen=True)
class Limits:
    """The limits of orders, in addition to the levels."""

    units_per_order_max: int = 10_000  # hundreds of times what a busy shelf sells in a day
    thousandths_per_order_max: int = 1_000_000  # a tonne: a line of a shipment holds no more
    orders_per_store_max: int = 2_000  # a minute: more than a store has shelves by default


def derive_order_id(shelf: Shelf, moment_ms: int) -> str:
    """The id of an order, without generation and amount: every gate derives the same id."""
    named = f"{shelf.store_id}/{shelf.sku}/{moment_ms}"
    return f"PO-{hashlib.sha256(named.encode()).hexdigest()[:ID_DIGITS]}"


class Positions:
    """The inventory positions and levels of all shelves at the last answered minute, and the rows
    of one generation about later ones. Reviews say what moved in a day.
    """

    def __init__(self, answered_ms: int, limits: Limits = Limits()) -> None:
        self.moves: Moves[Shelf] = Moves(answered_ms)
        self._limits = limits
        self._levels: dict[Shelf, Level] = {}
        self._coming: dict[int, dict[Shelf, Level]] = defaultdict(dict)  # levels to come

    def take_review(self, shelf: Shelf, moved_units: int, level: Level) -> None:
        """Take the newest row of a review: what moved in the day before it, and the levels."""
        self.moves.take_day(level.since_ms, shelf, moved_units)
        self._set_level(shelf, level)

    def take_change(
        self, shelf: Shelf, changed_ms: int, moved_units: int, opening: Level | None = None
    ) -> None:
        """Take the newest row of a minute. `opening`: the levels of a shelf that opened in it."""
        self.moves.take(changed_ms, shelf, moved_units)
        if opening is not None:
            self._set_level(shelf, opening)

    def take_order(self, shelf: Shelf, units: int) -> None:
        """Take an order that somebody has given: it answers no later minute than the last."""
        self.moves.units[shelf] += units

    def answer(self, until_ms: int) -> list[Order]:
        """The orders of every minute after the last answered one, until this minute."""
        answered_ms = self.moves.answered_ms
        coming = (moment_ms for moment_ms in self._coming if answered_ms < moment_ms <= until_ms)
        due = {*self.moves.list_due(until_ms), *coming}
        orders = [order for moment_ms in sorted(due) for order in self._answer_minute(moment_ms)]
        self.moves.answered_ms = until_ms
        return orders

    def _set_level(self, shelf: Shelf, level: Level) -> None:
        if level.since_ms > self.moves.answered_ms:
            self._coming[level.since_ms][shelf] = level
        elif shelf not in self._levels or self._levels[shelf].since_ms <= level.since_ms:
            self._levels[shelf] = level

    def _answer_minute(self, moment_ms: int) -> list[Order]:
        """The orders of one minute, the most urgent of each store first."""
        moved, units = self.moves.add(moment_ms), self.moves.units
        reviewed = self._coming.pop(moment_ms, {})
        self._levels.update(reviewed)
        looked_at = reviewed.keys() | {shelf for shelf in moved if self._reacts(shelf)}
        missing = {
            shelf: units[shelf] - self._levels[shelf].find_point(moment_ms) for shelf in looked_at
        }
        wanted = [shelf for shelf, above in missing.items() if above <= 0]
        given: Counter[str] = Counter()
        orders = []
        for shelf in sorted(wanted, key=lambda shelf: (missing[shelf], shelf)):
            if given[shelf.store_id] < self._limits.orders_per_store_max:
                given[shelf.store_id] += 1
                order = self._create_order(shelf, moment_ms)
                units[shelf] += order.units
                orders.append(order)
        return orders

    def _reacts(self, shelf: Shelf) -> bool:
        return shelf in self._levels and self._levels[shelf].review_days == 0

    def _create_order(self, shelf: Shelf, moment_ms: int) -> Order:
        """An order of whole packs, up to the level and within the limits."""
        level, limits = self._levels[shelf], self._limits
        by_piece = level.measure is None
        most = limits.units_per_order_max if by_piece else limits.thousandths_per_order_max
        pack = level.pack_size_units
        lot = level.order_up_to_units - level.reorder_point_units
        packs = max(1, -((self.moves.units[shelf] - level.find_point(moment_ms) - lot) // pack))
        packs = min(packs, max(1, most // pack))
        return Order(shelf, moment_ms, packs * pack, level)
