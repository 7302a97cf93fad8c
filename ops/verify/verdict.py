"""Compares the served views with the oracle, the quarantine with its rejections, and stock with the
ledger too.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts import CONTRACTS, QUARANTINE, STOCK_LEVELS
from infra.kafka import Offsets, Partition
from infra.settings import Settings, locate_root
from infra.wait import ask_until
from ops.control.reading import ALL_FIELDS
from ops.generations.folders import locate_code
from ops.generations.lifecycle import load_generations
from ops.verify.comparison import SHOWN_MAX, Comparison, compare_view, list_some
from ops.verify.inventory import Book, Log, Oracle, Place
from ops.verify.lake import TableCheck, check_tables
from ops.verify.ledger import Audit, audit_ledger
from ops.verify.log import read_topic
from ops.verify.oracles import ask_oracle, get_oracle
from ops.verify.served import Served, fetch_views
from services.quarantine.follower import read_progress

CAUGHT_UP_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Listing:
    """The records listed below some offsets, compared with the expected ones."""

    rejected: int
    listed: int
    """The number of rejected records that are listed with a reason of the oracle's."""
    differences: list[str]
    """The first records that are missing, listed for another reason, or wrongly listed."""
    behind: int
    """The number of records not yet validated by the quarantine after CAUGHT_UP_SECONDS_MAX."""

    @property
    def agrees(self) -> bool:
        return not self.differences and (self.listed == self.rejected or self.behind > 0)

    @property
    def complete(self) -> bool:
        return self.agrees and self.behind == 0


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
    tables: tuple[TableCheck, ...] = ()
    """The lake's tables of these views; empty where there is no lake."""

    @property
    def books_agree(self) -> bool:
        return self.books == self.live.books

    @property
    def agree(self) -> bool:
        """Whether all comparisons agree."""
        same_views = all(comparison.agrees for comparison in self.views)
        booked = self.audit is None or self.audit.agrees
        same_tables = all(table.agrees for table in self.tables)
        same = same_views and same_tables
        return same and self.books_agree and self.listing.agrees and booked

    @property
    def exact(self) -> bool:
        audited = self.audit is None or self.audit.made
        return self.agree and self.listing.complete and audited

    def list_deviations(self) -> Iterator[str]:
        """Each deviation as a line; nothing where the pipeline is exact."""
        for comparison in self.views:
            if not comparison.agrees:
                yield comparison.describe(comparison.view.entity)
        yield from filter(None, (table.describe_deviation() for table in self.tables))
        if not self.books_agree:
            live = self.live.books
            off = [
                partition for partition, book in self.books.items() if live.get(partition) != book
            ]
            keys = ["/".join(map(str, partition)) for partition in off]
            yield f"the accounting of {len(keys)} partitions differs: {list_some(keys)}"
        yield from self.listing.differences
        if self.listing.behind:
            yield f"not audited: the quarantine is {self.listing.behind:,} records behind"
        if self.audit is not None:
            if not self.audit.made:
                yield "not audited: the ledger has no page yet"
            for each in self.audit.differences[:SHOWN_MAX]:
                yield f"{'/'.join(each.shelf)}: ledger {each.ledger}, log {each.log}"
            for what, (ledger, log) in self.audit.seen.items():
                if ledger != log:
                    yield f"{what}: the ledger counts {ledger:,} records, the log {log:,}"


def reach_verdict(settings: Settings, pipeline: str) -> Verdict:
    """Compare all at the served marker. Raises UserError, ApiDown, and Kafka's errors."""
    get_oracle(pipeline)  # before any request: its error names the pipelines
    live = fetch_views(settings, pipeline)
    code = find_code(settings, pipeline, live.generation)
    asked = ask_oracle(pipeline, settings, live.inputs, code)
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
            if settings.is_simulated and isinstance(asked, Oracle) and STOCK_LEVELS.name in answers
            else None
        ),
        tables=tuple(check_tables(settings, pipeline)),
    )


def find_code(settings: Settings, pipeline: str, number: int) -> Path:
    """The folder of the generation's code; the project's own if there is no copy here."""
    generation = load_generations(settings, pipeline).of(number)
    copy = locate_code(settings, generation) if generation else locate_root()
    return copy if copy.exists() else locate_root()


def compare_listing(settings: Settings, oracle: Log) -> Listing:
    """Compare once the quarantine has read as far as the oracle, or the time limit is over."""
    behind = ask_until(
        lambda: count_behind(oracle.ends, read_progress(settings)),
        lambda behind: behind == 0,
        CAUGHT_UP_SECONDS_MAX,
    )
    listed = dict(read_reasons(settings, oracle.ends))
    differing = list(find_misplaced(oracle.rejected, listed, lagging=behind > 0))
    return Listing(
        rejected=len(oracle.rejected),
        listed=sum(
            may_be(oracle.rejected[place], listed[place])
            for place in oracle.rejected.keys() & listed.keys()
        ),
        differences=differing[:SHOWN_MAX],
        behind=behind,
    )


def count_behind(ends: Offsets, covered: Offsets) -> int:
    """How many records below the ends are not covered."""
    return sum(max(0, end - covered.get(partition, 0)) for partition, end in ends.items())


def read_reasons(settings: Settings, ends: Offsets) -> Iterator[tuple[Place, str]]:
    """The place and reason of every listed record below the ends; copies repeat it."""
    for record in read_topic(settings, QUARANTINE.name):
        row = ALL_FIELDS.read_record(QUARANTINE, record)
        if row and row["offset"] < ends.get((row["topic"], row["partition"]), 0):
            yield (row["topic"], row["partition"], row["offset"]), row["reason"]


def find_misplaced(
    rejected: Mapping[Place, Collection[str]], listed: Mapping[Place, str], *, lagging: bool
) -> Iterator[str]:
    for place in sorted(rejected.keys() | listed.keys()):
        shown = "/".join(map(str, place))
        reasons = rejected.get(place, ())
        expected = "accepted" if place not in rejected else " or ".join(reasons) or "rejected"
        if place not in listed:
            if not lagging:
                yield f"{shown}: not listed, but it is {expected}"
        elif place not in rejected or not may_be(reasons, listed[place]):
            yield f"{shown}: listed as {listed[place]}, but it is {expected}"


def may_be(reasons: Collection[str], listed: str) -> bool:
    return not reasons or listed in reasons
