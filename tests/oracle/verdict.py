"""The live view, as the API serves it, held against the oracle and the ledger."""

import json
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contracts import STOCK_LEVELS, digest
from infra.errors import Trouble
from infra.kafka import Partition
from infra.settings import Settings
from tests.oracle.inventory import Book, Oracle, Row
from tests.oracle.ledger import Audit, audit
from tests.oracle.quarantine import Listing, listing

REQUEST_SECONDS_MAX = 60.0
DIFFERENCES_SHOWN_MAX = 20


class ApiDown(Trouble):
    """The API does not give the view."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(f"{url} should answer with the view, but: {why}. Start it: make up")


@dataclass(frozen=True)
class Live:
    """A view as it is served, whole, at one marker."""

    generation: int
    batch: int
    inputs: dict[Partition, int]
    books: dict[Partition, Book]
    rows: list[Row]


@dataclass(frozen=True)
class Verdict:
    """Three answers to one question, and whether they agree."""

    live: Live
    live_digest: str
    oracle_digest: str
    differing: list[tuple[Row | None, Row | None]]
    """Rows that differ: live, oracle; at most DIFFERENCES_SHOWN_MAX of them."""
    books: dict[Partition, Book]
    """The oracle's."""
    audit: Audit
    listing: Listing

    @property
    def books_agree(self) -> bool:
        return self.books == self.live.books

    @property
    def agree(self) -> bool:
        """Whether nothing that was compared differs."""
        same_view = self.live_digest == self.oracle_digest and not self.differing
        return same_view and self.books_agree and self.audit.agrees and self.listing.agrees

    @property
    def exact(self) -> bool:
        return self.agree and self.audit.made and self.listing.complete


def verdict(settings: Settings) -> Verdict:
    """Ask all three at the live view's marker; raises ApiDown, and what Kafka raises."""
    live = live_view(settings)
    oracle = Oracle(settings, live.inputs)
    rows = oracle.view()
    return Verdict(
        live=live,
        live_digest=digest(STOCK_LEVELS, live.rows),
        oracle_digest=digest(STOCK_LEVELS, rows),
        differing=list(differing(live.rows, rows)),
        books=oracle.books(),
        audit=audit(settings, oracle),
        listing=listing(settings, oracle),
    )


def live_view(settings: Settings) -> Live:
    """The view as the API serves it; one answer, so one marker."""
    with export(f"{settings.api_url}/v1/views/{STOCK_LEVELS.name}/rows") as lines:
        head = json.loads(next(lines))
        rows = [typed(json.loads(line)) for line in lines]
    if len(rows) != head["rows"]:
        raise ApiDown(settings.api_url, f"it sent {len(rows)} rows of {head['rows']}")
    return Live(
        generation=head["generation"],
        batch=head["marker"]["batch"],
        inputs={
            (topic, partition): offset
            for topic, offsets in head["marker"]["inputs"].items()
            for partition, offset in enumerate(offsets)
        },
        books={
            (book["topic"], book["partition"]): Book(
                book["read"], book["applied"], book["duplicate"], book["quarantined"]
            )
            for book in head["books"]
        },
        rows=rows,
    )


@contextmanager
def export(url: str) -> Iterator[Iterator[bytes]]:
    try:
        with urllib.request.urlopen(url, timeout=REQUEST_SECONDS_MAX) as answer:
            yield iter(answer)
    except OSError as error:
        raise ApiDown(url, error) from error


def typed(row: Row) -> Row:
    """A row of JSON with its times as times."""
    times = {field.name for field in STOCK_LEVELS.fields if field.type == "timestamp"}
    return {
        name: datetime.fromisoformat(value) if name in times else value
        for name, value in row.items()
    }


def differing(live: list[Row], oracle: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Pairs of rows with one key that are not the same; None where there is no row."""
    ours, theirs = by_key(live), by_key(oracle)
    shown = 0
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key) and shown < DIFFERENCES_SHOWN_MAX:
            shown += 1
            yield ours.get(key), theirs.get(key)


def by_key(rows: list[Row]) -> Mapping[tuple[Any, ...], Row]:
    return {tuple(row[field] for field in STOCK_LEVELS.key): row for row in rows}
