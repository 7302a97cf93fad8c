"""The markdowns of products: a function of proposals, stock, and published prices.

Every half-hour is answered in turn, whenever that is done, so that a gate that was away gives the
same price changes later.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from contracts import NOTICE, holds_from
from contracts.times import MILLISECOND
from services.markdowns.prices import BEGINS, ENDS, PriceChange, Prices
from services.moves import DAY_MS, Moves

MINUTE_MS = 60_000
HALF_HOUR_MS = 30 * MINUTE_MS
ID_DIGITS = 24
AHEAD_MS = NOTICE // MILLISECOND + 10 * MINUTE_MS
"""From the end of a half-hour until a change takes effect: the notice of the contract, and the time
to settle and to decide."""


@dataclass(frozen=True)
class Limits:
    """The limits of markdowns, in addition to the proposals."""

    days_max: float = 7.0  # what has not sold by then needs another remedy than a price
    days_min_between: float = 1.0  # between two changes: customers read a price once a day
    begun_max: int = 10  # at once: a mistaken threshold costs no more before somebody sees it
    marked_max: int = 80  # products at the same time: a tenth of an assortment of 800


class Proposal(NamedTuple):
    """What an interval says of a product."""

    slow_above_units: int
    enough_units: int
    price_cents: int | None
    markdown_price_cents: int | None


class Decision(NamedTuple):
    """A price change of the gate, by the half-hour that ends at `moment_ms`."""

    event_id: str
    sku: str
    price_cents: int
    moment_ms: int

    @property
    def effective_ms(self) -> int:
        return self.moment_ms + AHEAD_MS

    def publish(self, now_ms: int) -> PriceChange:
        """The change as it is in the log when it is published at a time."""
        since_ms = holds_from(self.effective_ms, now_ms)
        return PriceChange(
            self.event_id, self.moment_ms, self.sku, self.price_cents, since_ms, now_ms
        )


def derive_event_id(prefix: str, sku: str, moment_ms: int) -> str:
    """The id of a change, without generation and price: every gate derives the same id."""
    return f"{prefix}{hashlib.sha256(f'{sku}/{moment_ms}'.encode()).hexdigest()[:ID_DIGITS]}"


class Markdowns:
    """The stock and the prices of all products at the last answered half-hour, and the rows of one
    generation about later ones.
    """

    def __init__(self, answered_ms: int, limits: Limits = Limits()) -> None:
        self.moves: Moves[str] = Moves(answered_ms)
        self.prices = Prices()
        self._limits = limits
        self._proposals: dict[int, dict[str, dict[str, Proposal]]] = defaultdict(dict)

    def take_proposal(self, ends_ms: int, period: str, sku: str, proposal: Proposal) -> None:
        """Take the newest row of a product's interval, but for what moved in it."""
        if ends_ms > self.moves.answered_ms:
            self._proposals[ends_ms].setdefault(sku, {})[period] = proposal

    def answer(self, until_ms: int, now_ms: int) -> list[Decision]:
        """The price changes of every half-hour after the last answered one, until this one. They
        count as published at `now_ms`.
        """
        first_ms = self.moves.answered_ms // HALF_HOUR_MS * HALF_HOUR_MS + HALF_HOUR_MS
        return [
            decision
            for moment_ms in range(first_ms, until_ms + 1, HALF_HOUR_MS)
            for decision in self._answer_half_hour(moment_ms, now_ms)
        ]

    def _answer_half_hour(self, moment_ms: int, now_ms: int) -> list[Decision]:
        self.moves.add(moment_ms)
        self.moves.answered_ms = moment_ms
        proposed = self._proposals.pop(moment_ms, {})
        marked = self.prices.list_marked(moment_ms + AHEAD_MS, moment_ms)
        ended = [
            self._end(sku, moment_ms) for sku in marked if self._ends(sku, moment_ms, proposed)
        ]
        slow = sorted(
            (-self.moves.units[sku] / max(1, proposal.slow_above_units), sku, proposal)
            for sku, by_period in proposed.items()
            if sku not in marked and (proposal := self._find_slow(sku, moment_ms, by_period))
        )
        room = min(self._limits.begun_max, self._limits.marked_max - len(marked) + len(ended))
        begun = [self._begin(sku, moment_ms, proposal) for _, sku, proposal in slow[: max(0, room)]]
        for decision in (*ended, *begun):
            self.prices.take(decision.publish(now_ms))
        return [*ended, *begun]

    def _ends(self, sku: str, moment_ms: int, proposed: dict[str, dict[str, Proposal]]) -> bool:
        """Whether a markdown ends: it has sold, or was tried for long enough."""
        own = self.prices.find_own(sku)
        if own is None or self._is_too_soon(own, moment_ms):
            return False
        is_enough = any(
            self.moves.units[sku] <= proposal.enough_units
            for proposal in proposed.get(sku, {}).values()
        )
        return is_enough or moment_ms - own.decided_ms >= self._limits.days_max * DAY_MS

    def _find_slow(
        self, sku: str, moment_ms: int, by_period: dict[str, Proposal]
    ) -> Proposal | None:
        """The proposal by which a product is to be marked down, if it may be: that of the day, or
        else of the half-hour. Its price has to be the one that will hold, so that it gets lower.
        """
        own = self.prices.find_own(sku)
        usual = self.prices.find_usual(sku, moment_ms + AHEAD_MS, moment_ms)
        if usual is None or (own is not None and self._is_too_soon(own, moment_ms)):
            return None
        for _, proposal in sorted(by_period.items()):
            is_slow = self.moves.units[sku] > proposal.slow_above_units
            is_lower = proposal.markdown_price_cents is not None
            if is_slow and is_lower and proposal.price_cents == usual.price_cents:
                return proposal
        return None

    def _is_too_soon(self, own: PriceChange, moment_ms: int) -> bool:
        return moment_ms - own.decided_ms < self._limits.days_min_between * DAY_MS

    def _begin(self, sku: str, moment_ms: int, proposal: Proposal) -> Decision:
        cents = proposal.markdown_price_cents
        assert cents is not None
        return Decision(derive_event_id(BEGINS, sku, moment_ms), sku, cents, moment_ms)

    def _end(self, sku: str, moment_ms: int) -> Decision:
        """Back to the price that others have set."""
        usual = self.prices.find_usual(sku, moment_ms + AHEAD_MS, moment_ms)
        assert usual is not None, "without a price nothing is marked down"
        return Decision(derive_event_id(ENDS, sku, moment_ms), sku, usual.price_cents, moment_ms)
