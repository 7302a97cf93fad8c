"""Compares the served views with the oracle, and stock with the ledger too."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts import CONTRACTS, STOCK_LEVELS, Contract, compute_digest
from infra.kafka import Partition
from infra.settings import Settings
from ops.verify.inventory import Book, Oracle, Row
from ops.verify.ledger import Audit, audit_ledger
from ops.verify.limits import find_code
from ops.verify.oracles import get_oracle
from ops.verify.quarantine import Listing, compare_listing
from ops.verify.served import Served, fetch_views

Difference = tuple[Row | None, Row | None]
"""A row of the served view, and the oracle's row with the same key; None for a missing one."""


@dataclass(frozen=True)
class Comparison:
    """A served view and the oracle's."""

    view: Contract
    rows: int
    live_digest: str
    oracle_digest: str
    differing: list[Difference]

    @property
    def agrees(self) -> bool:
        return self.live_digest == self.oracle_digest and not self.differing


@dataclass(frozen=True)
class Verdict:
    """The answers of the API, the oracle and the ledger, and whether they agree."""

    live: Served
    views: tuple[Comparison, ...]
    books: Mapping[Partition, Book]
    """The oracle's accounting."""
    listing: Listing
    audit: Audit | None
    """None: the ledger does not cover these views, or the world is not simulated."""

    @property
    def books_agree(self) -> bool:
        return self.books == self.live.books

    @property
    def agree(self) -> bool:
        """Whether all comparisons agree."""
        same_views = all(one.agrees for one in self.views)
        booked = self.audit is None or self.audit.agrees
        return same_views and self.books_agree and self.listing.agrees and booked

    @property
    def exact(self) -> bool:
        audited = self.audit is None or self.audit.made
        return self.agree and self.listing.complete and audited


def reach_verdict(settings: Settings, pipeline: str) -> Verdict:
    """Compare all at the served marker. Raises NoOracle, ApiDown, and Kafka's errors."""
    ask = get_oracle(pipeline)  # before any request: its error names the pipelines
    live = fetch_views(settings, pipeline)
    asked = ask(settings, live.inputs, find_code(settings, pipeline, live.generation))
    answers = asked.compute_views()
    return Verdict(
        live=live,
        views=tuple(
            compare_view(CONTRACTS[name], live.views.get(name, []), answers.get(name, []))
            for name in sorted(live.views.keys() | answers.keys())
        ),
        books=asked.count_books(),
        listing=compare_listing(settings, asked),
        audit=(
            audit_ledger(settings, asked)
            if settings.world == "simulated"
            and isinstance(asked, Oracle)
            and STOCK_LEVELS.name in answers
            else None
        ),
    )


def compare_view(view: Contract, live: list[Row], oracle: list[Row]) -> Comparison:
    expected = select_kept(view, oracle)
    return Comparison(
        view=view,
        rows=len(live),
        live_digest=compute_digest(view, live),
        oracle_digest=compute_digest(view, expected),
        differing=list(find_differences(view, live, expected)),
    )


def select_kept(view: Contract, rows: list[Row]) -> list[Row]:
    """The rows within the view's retention, counted from the newest row."""
    if view.retention is None or view.began is None or not rows:
        return rows
    oldest = max(row[view.began] for row in rows) - view.retention
    return [row for row in rows if row[view.began] >= oldest]


def find_differences(view: Contract, live: list[Row], oracle: list[Row]) -> Iterator[Difference]:
    """The pairs of differing rows with the same key."""
    ours, theirs = index_by_key(view, live), index_by_key(view, oracle)
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield ours.get(key), theirs.get(key)


def index_by_key(view: Contract, rows: list[Row]) -> Mapping[tuple[Any, ...], Row]:
    return {tuple(row[field] for field in view.key): row for row in rows}
