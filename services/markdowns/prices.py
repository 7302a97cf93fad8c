"""The prices of products, by the changes that others and the gate have published."""

from collections import defaultdict
from typing import NamedTuple

BEGINS, ENDS = "markdown-begins-", "markdown-ends-"
"""What the event ids of the gate begin with, and of nobody else."""


class PriceChange(NamedTuple):
    """A published price change; in milliseconds since 1970."""

    event_id: str
    decided_ms: int
    sku: str
    price_cents: int
    since_ms: int
    """From when on it holds, with its notice."""
    published_ms: int

    @property
    def begins(self) -> bool:
        return self.event_id.startswith(BEGINS)

    @property
    def is_own(self) -> bool:
        return self.event_id.startswith((BEGINS, ENDS))


class Prices:
    """All published price changes that still matter."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, int]] = set()
        self._others: dict[str, list[PriceChange]] = defaultdict(list)
        self._own: dict[str, PriceChange] = {}

    def take(self, change: PriceChange) -> None:
        """Take a change, in the order of the log; a copy counts for nothing."""
        identity = change.event_id, change.decided_ms
        if identity in self._taken:
            return
        self._taken.add(identity)
        if change.is_own:
            self._own[change.sku] = change
        else:
            self._others[change.sku].append(change)

    def find_own(self, sku: str) -> PriceChange | None:
        """The gate's last change of the product."""
        return self._own.get(sku)

    def find_usual(self, sku: str, since_ms: int, known_ms: int) -> PriceChange | None:
        """What holds of others' changes from a moment on, by those published before another. Of
        two that hold from the same moment on, the later one counts.
        """
        holding = [
            change
            for change in self._others.get(sku, ())
            if change.since_ms <= since_ms and change.published_ms < known_ms
        ]
        return max(reversed(holding), key=lambda change: change.since_ms, default=None)

    def find_markdown(self, sku: str, since_ms: int, known_ms: int) -> PriceChange | None:
        """The markdown of a product that holds from a moment on, unless others have set a price
        after it.
        """
        own = self._own.get(sku)
        if own is None or not own.begins:
            return None
        usual = self.find_usual(sku, since_ms, known_ms)
        return None if usual is not None and usual.since_ms > own.since_ms else own

    def list_marked(self, since_ms: int, known_ms: int) -> list[str]:
        """The products that are marked down, as in `find_markdown`, in their order."""
        return sorted(sku for sku in self._own if self.find_markdown(sku, since_ms, known_ms))
