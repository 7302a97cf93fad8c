"""What is checked of each table, and over which rows. To check one more table: a line in CHECKS."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from great_expectations import expectations as gxe
from great_expectations.expectations.expectation import Expectation

from contracts import Contract
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import Folders, find_newest_version, read_coverage
from pipelines.lake.quality import sums
from pipelines.lake.quality.expectations import build_frames, expect_no_row, list_expectations
from pipelines.lake.tables import EVENTS
from pipelines.lake.transform import IDENTITY, MOVES

PLACE = ("_partition", "_offset")
DAY = timedelta(days=1)
MOMENT = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Frame:
    """Rows, and what is expected of them."""

    suite: str
    rows: pa.Table
    expectations: Sequence[Expectation]


@dataclass(frozen=True)
class Pinned:
    """A table at one version, with its coverage of the log there."""

    folder: Folder
    version: int
    ends: Offsets

    def open(self, where: pc.Expression | None = None) -> Any:
        """The dataset of its rows that meet the condition, of which a query reads what it needs."""
        dataset = DeltaTable(str(self.folder), version=self.version).to_pyarrow_dataset()
        return dataset if where is None else dataset.filter(where)


def pin(folder: Folder) -> Pinned:
    version = find_newest_version(folder)
    return Pinned(folder, version, read_coverage(folder, version).ends)


class Check(Protocol):
    """The check of a table."""

    @property
    def in_parts(self) -> bool:
        """Whether the rows of one part of the log can be checked without those of another."""
        ...

    def locate(self, folders: Folders) -> Folder: ...

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        """The frames to check of the rows that came from these offsets of the log."""
        ...


@dataclass(frozen=True)
class Records:
    """Bronze: every offset has its record."""

    in_parts: bool = False

    def locate(self, folders: Folders) -> Folder:
        return folders.bronze

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        records = table.open(is_beyond(starts))
        yield Frame(
            "records of each partition",
            sums.count_records(records, starts, ends),
            (
                gxe.ExpectColumnPairValuesToBeEqual(
                    column_A="records",
                    column_B="different",
                    description="every record is there once",
                ),
                gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                    column_A="gaps_max",
                    column_B="gaps",
                    or_equal=True,
                    description="every offset has a record, but for those of transactions",
                ),
                gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                    column_A="end",
                    column_B="after_last",
                    or_equal=True,
                    description="no record from where on it says it holds none",
                ),
            ),
        )


@dataclass(frozen=True)
class Events:
    """Silver: each event keeps the rules of its contract, and is there once."""

    topic: Contract
    in_parts: bool = True

    def locate(self, folders: Folders) -> Folder:
        return folders.silver(self.topic)

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        events = table.open(is_between(starts, ends)).to_table()
        yield from check_rules(self.topic, events, *PLACE)
        if events.num_rows:
            yield self._measure_copies(table, events)

    def _measure_copies(self, table: Pinned, events: pa.Table) -> Frame:
        identity = ["_partition", *IDENTITY]
        oldest, newest = (pc.min_max(events["event_time"])[side] for side in ("min", "max"))
        time = pc.field("event_time")
        near = table.open((time >= oldest) & (time <= newest))
        copies = sums.find_copies(events.select(identity), near)
        return Frame("copies", copies, (expect_no_row("an event is there once"),))


@dataclass(frozen=True)
class DailyFacts:
    """Gold: the days of the new events are the sums of silver."""

    in_parts: bool = False

    def locate(self, folders: Folders) -> Folder:
        return folders.daily_facts

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        days = sorted(
            {
                day
                for topic in MOVES
                for day in list_days(
                    pin(folders.silver(topic)), select(starts, topic), select(ends, topic)
                )
            }
        )
        gold = table.open(pc.field("day").isin(pa.array(days, pa.date32())))
        wrong = sums.find_wrong_sums(gold, open_silver(folders, ends, is_on(days)))
        yield Frame("sums of silver", wrong, (expect_no_row("a day is the sum of its events"),))


CHECKS: tuple[Check, ...] = (Records(), *map(Events, EVENTS), DailyFacts())


def check_rules(contract: Contract, rows: pa.Table, *identity: str) -> Iterator[Frame]:
    """The rows and the items of their arrays, by the rules of the contract."""
    frames, rules = build_frames(contract, rows, *identity), list_expectations(contract)
    for name, expected in rules.items():
        if expected and frames[name].num_rows:
            yield Frame(name, frames[name], tuple(expected.values()))


def select(offsets: Offsets, topic: Contract) -> Offsets:
    """Those of the topic."""
    return {partition: end for partition, end in offsets.items() if partition[0] == topic.name}


def is_between(starts: Offsets, ends: Offsets) -> pc.Expression:
    """Whether a row of silver lies in this part of its topic."""
    parts = (
        (pc.field("_partition") == partition[1])
        & (pc.field("_offset") >= starts.get(partition, 0))
        & (pc.field("_offset") < end)
        for partition, end in ends.items()
    )
    return reduce(or_, parts, pc.scalar(False))


def is_beyond(starts: Offsets) -> pc.Expression | None:
    """Whether a record of bronze lies from these offsets on; None: each does."""
    if not starts:
        return None
    topics, names = pc.field("topic"), sorted({topic for topic, _ in starts})
    parts = (
        (topics == topic) & (pc.field("partition") == partition) & (pc.field("offset") >= start)
        for (topic, partition), start in starts.items()
    )
    return reduce(or_, parts, ~topics.isin(names))


def list_days(silver: Pinned, starts: Offsets, ends: Offsets) -> set[date]:
    """The days of UTC on which these events happened."""
    times = silver.open(is_between(starts, ends)).to_table(columns=["event_time"])["event_time"]
    return set(pc.unique(times.cast(pa.timestamp("us")).cast(pa.date32())).to_pylist())


def is_on(days: Iterable[date]) -> pc.Expression:
    """Whether an event happened on one of these days of UTC."""
    time = pc.field("event_time")
    each = ((time >= begin_of(day)) & (time < begin_of(day + DAY)) for day in days)
    return reduce(or_, each, pc.scalar(False))


def begin_of(day: date) -> "pa.Scalar[Any]":
    """The first moment of the day, as silver has its times."""
    return pa.scalar(datetime(day.year, day.month, day.day, tzinfo=UTC), MOMENT)


def open_silver(folders: Folders, ends: Offsets, during: pc.Expression) -> dict[Contract, Any]:
    """Per topic that moves stock, the datasets of the events below these offsets and of a time."""
    return {
        topic: pin(folders.silver(topic)).open(is_between({}, select(ends, topic)) & during)
        for topic in MOVES
    }
