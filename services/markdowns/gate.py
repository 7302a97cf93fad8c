"""The gate of markdowns: half-hour by half-hour it publishes what the promoted generation calls
for, as price changes.
"""

from contracts import MARKDOWN_PROPOSALS, PRICE_CHANGES, Row, holds_from
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.kafka import create_admin
from infra.settings import Settings
from ops.control.reading import Reader
from ops.generations.marker import Marker
from ops.generations.record import Generation
from services.gate import Duty, Rows, find_published, select_outputs
from services.markdowns.decision import HALF_HOUR_MS, Decision, Markdowns, Proposal
from services.markdowns.prices import PriceChange

READER = Reader(create_reader("markdowns"))
DAY = "day"


class MarkdownAnswers:
    """The price changes called for by one generation's rows, after an answered half-hour."""

    def __init__(self, settings: Settings, generation: Generation, answered_ms: int) -> None:
        self.generation = generation
        self.markdowns = Markdowns(answered_ms)
        self._client = create_admin(settings)
        self._proposals = Rows(settings, READER, MARKDOWN_PROPOSALS)
        self._prices = Rows(settings, READER, PRICE_CHANGES)

    @property
    def is_outdated(self) -> bool:
        return self.markdowns.moves.is_outdated

    def take_until(self, marker: Marker) -> bool:
        ends = find_published(self._client, PRICE_CHANGES)
        if ends is None:
            return False
        outputs = select_outputs(self.generation, marker, MARKDOWN_PROPOSALS)
        for row in self._proposals.read_new(outputs):
            self._take_proposal(row)
        for row, published_ms in self._prices.read_dated(ends):
            self.markdowns.prices.take(read_change(row, published_ms))
        return True

    def answer(self, moment_ms: int, now_ms: int) -> list[Row]:
        decisions = self.markdowns.answer(moment_ms, now_ms)
        self.markdowns.moves.forget()
        return [build_row(decision) for decision in decisions]

    def _take_proposal(self, row: Row) -> None:
        ends_ms, sku = to_epoch_ms(row["ends_at"]), row["sku"]
        moves = self.markdowns.moves
        take = moves.take_day if row["period"] == DAY else moves.take
        take(ends_ms, sku, row["moved_units"])
        fields = (row[name] for name in Proposal._fields)
        self.markdowns.take_proposal(ends_ms, row["period"], sku, Proposal(*fields))


def read_change(row: Row, published_ms: int) -> PriceChange:
    """The price change of a record that was published at a time."""
    return PriceChange(
        row["event_id"],
        to_epoch_ms(row["event_time"]),
        row["sku"],
        row["price_cents"],
        holds_from(to_epoch_ms(row["effective_at"]), published_ms),
        published_ms,
    )


def build_row(decision: Decision) -> Row:
    """The price change's record."""
    return {
        "event_id": decision.event_id,
        "event_time": decision.moment_ms,
        "sku": decision.sku,
        "price_cents": decision.price_cents,
        "effective_at": decision.effective_ms,
    }


MARKING_DOWN = Duty(
    name="markdowns",
    pipeline="pricing",
    step_ms=HALF_HOUR_MS,
    reader=READER,
    publishes=PRICE_CHANGES,
    says="price changes, by the proposals",
    begin=MarkdownAnswers,
)
