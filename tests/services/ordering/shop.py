"""What the gate of orders reads."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from contracts import POSITION_CHANGES, PROPOSALS, PURCHASE_ORDERS
from infra.settings import Settings
from tests.services.gated import MINUTE_MS, GatedPipeline

DAY_MS = 86_400_000
FIRST_REVIEW_MS = round(datetime(2026, 3, 3, tzinfo=UTC).timestamp() * 1000)


def find_review_ms(number: int) -> int:
    return FIRST_REVIEW_MS + number * DAY_MS


class Reordering(GatedPipeline):
    """Reviews and changes of generations of reorder."""

    def __init__(self, kafka: Settings) -> None:
        super().__init__(kafka, "reorder", (PROPOSALS, POSITION_CHANGES))

    def propose(self, generation: int, review: int, moved: dict[str, int], **fields: Any) -> None:
        """Of one store: by sku, how far its position moved in the minute before the review."""
        for sku, units in moved.items():
            row = {"review_at": find_review_ms(review), "review_days": 1, "reorder_points": None}
            row |= fields
            self.write_row(generation, PROPOSALS, {"sku": sku, "moved_units": units, **row})
        self.change(generation, find_review_ms(review), moved)

    def change(self, generation: int, changed_ms: int, moved: dict[str, int]) -> None:
        """Of one store: by sku, how far its position moved in a minute."""
        for sku, units in moved.items():
            row = {"sku": sku, "moved_units": units, "changed_at": changed_ms}
            self.write_row(generation, POSITION_CHANGES, row)

    def beat(self, review: int) -> None:
        """The world comes to the review, and two minutes further."""
        for minutes in (1, 2):
            self.beat_at(find_review_ms(review) + minutes * MINUTE_MS)

    def review(self, generation: int, number: int, moved: dict[str, int]) -> None:
        """All of it, to the end."""
        self.propose(generation, number, moved)
        self.beat(number)
        self.mark(generation)

    def orders(self) -> list[dict[str, Any]]:
        """Every purchase order that is committed."""
        return self.read_committed(PURCHASE_ORDERS)

    def by_review(self) -> dict[int, Counter[str]]:
        """How often each sku was ordered, by the number of the review."""
        counts: dict[int, Counter[str]] = {}
        for order in self.orders():
            at_ms = round(order["review_at"].timestamp() * 1000)
            number = (at_ms - FIRST_REVIEW_MS) // DAY_MS
            counts.setdefault(number, Counter())[order["sku"]] += 1
        return counts
