"""What the gate of markdowns reads."""

from datetime import UTC, datetime
from typing import Any

from contracts import MARKDOWN_PROPOSALS, PRICE_CHANGES
from infra.settings import Settings
from services.markdowns.prices import BEGINS, ENDS
from tests.services.gated import MINUTE_MS, GatedPipeline

HALF_HOUR_MS = 30 * MINUTE_MS
MORNING_MS = round(datetime(2026, 3, 3, 8, tzinfo=UTC).timestamp() * 1000)
USUAL_CENTS, LOWER_CENTS = 200, 150


def to_ms(half_hours: int) -> int:
    """So many half-hours after the morning."""
    return MORNING_MS + half_hours * HALF_HOUR_MS


class Pricing(GatedPipeline):
    """Proposals of generations of pricing, and price changes of others."""

    def __init__(self, kafka: Settings) -> None:
        super().__init__(kafka, "pricing", (MARKDOWN_PROPOSALS,))

    def propose(self, generation: int, half_hours: int, moved: dict[str, int]) -> None:
        """By sku: how far its stock moved in the half-hour. More than 500 are too many, and fewer
        than 81 enough.
        """
        for sku, units in moved.items():
            row = {
                "ends_at": to_ms(half_hours),
                "period": "half-hour",
                "sku": sku,
                "moved_units": units,
                "slow_above_units": 500,
                "enough_units": 80,
                "price_cents": USUAL_CENTS,
                "markdown_price_cents": LOWER_CENTS,
            }
            self.write_row(generation, MARKDOWN_PROPOSALS, row)

    def set_price(
        self, sku: str, cents: int = USUAL_CENTS, since_ms: int = MORNING_MS - HALF_HOUR_MS
    ) -> None:
        """Somebody else sets a price, half an hour ahead."""
        published_ms = since_ms - HALF_HOUR_MS
        row = {
            "event_id": f"{sku}-{cents}-{since_ms}",
            "event_time": published_ms,
            "sku": sku,
            "price_cents": cents,
            "effective_at": since_ms,
        }
        self.write(PRICE_CHANGES.name, PRICE_CHANGES, row, published_ms)

    def end(self, generation: int, half_hours: int) -> None:
        """The world comes to the end of the half-hour and two minutes further, all of it read."""
        for minutes in (1, 2):
            self.beat_at(to_ms(half_hours) + minutes * MINUTE_MS)
        self.mark(generation)

    def changes(self) -> list[dict[str, Any]]:
        """The price changes of the gate that are committed."""
        rows = self.read_committed(PRICE_CHANGES)
        return [row for row in rows if row["event_id"].startswith((BEGINS, ENDS))]

    def by_half_hour(self) -> dict[int, list[tuple[str, int]]]:
        """By half-hour: sku and price of each change, in their order."""
        found: dict[int, list[tuple[str, int]]] = {}
        for row in self.changes():
            moment_ms = round(row["event_time"].timestamp() * 1000)
            number = (moment_ms - MORNING_MS) // HALF_HOUR_MS
            found.setdefault(number, []).append((row["sku"], row["price_cents"]))
        return {number: sorted(of_one) for number, of_one in found.items()}
