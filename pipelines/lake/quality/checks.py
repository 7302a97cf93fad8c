"""What is checked of each table, and over which rows. To check one more table: a line in
`list_checks`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from great_expectations import expectations as gxe
from great_expectations.expectations.expectation import Expectation

from contracts import ALERTS, PURCHASE_ORDERS, STOCK_LEVELS, Contract
from infra.folder import Folder
from infra.kafka import Offsets, get_place, read_between
from infra.lake import Folders
from infra.settings import Settings
from pipelines.lake.quality import sums
from pipelines.lake.quality.expectations import (
    build_frames,
    expect_no_row,
    expect_order,
    list_expectations,
)
from pipelines.lake.quality.reading import (
    Pinned,
    is_between,
    is_beyond,
    is_on,
    list_days,
    open_silver,
    pin,
    select,
)
from pipelines.lake.tables import EVENTS
from pipelines.lake.transform import IDENTITY, MOVES

PLACE = ("_partition", "_offset")
SLICE_ROWS = 100_000
"""The rows that Great Expectations gets at a time."""


@dataclass(frozen=True)
class Frame:
    """Rows, and what is expected of them."""

    suite: str
    rows: pa.Table
    expectations: Sequence[Expectation]


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
    """Bronze: every record of the log is there once."""

    count_committed: sums.Count
    in_parts: bool = False

    def locate(self, folders: Folders) -> Folder:
        return folders.bronze

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        records = table.open(is_beyond(starts))
        yield Frame(
            "records of each partition",
            sums.count_records(records, starts, ends, self.count_committed),
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
                    description="every record of the log is there",
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
        gold = table.open(pc.field("day").isin(pa.array(days, pa.int32()).cast(pa.date32())))
        wrong = sums.find_wrong_sums(gold, open_silver(folders, ends, is_on(days)))
        yield Frame("sums of silver", wrong, (expect_no_row("a day is the sum of its events"),))


@dataclass(frozen=True)
class States:
    """A table of gold that each version replaces: its rows keep the rules of a contract."""

    name: str
    contract: Contract
    in_parts: bool = False

    def locate(self, folders: Folders) -> Folder:
        return folders.gold(self.name)

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        yield from check_rules(self.contract, table.open().to_table())


@dataclass(frozen=True)
class Prices:
    """The table of prices: each holds for a time."""

    in_parts: bool = False

    def locate(self, folders: Folders) -> Folder:
        return folders.gold("prices")

    def measure(
        self, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
    ) -> Iterator[Frame]:
        order = expect_order("holds_from", "holds_until", or_equal=False)
        order.description = "a price holds until a later moment than from"
        yield Frame("intervals", table.open().to_table(), (order,))


def list_checks(settings: Settings) -> tuple[Check, ...]:
    """A check of each table, with the log that these settings name."""
    return (
        Records(partial(count_committed, settings)),
        *map(Events, EVENTS),
        DailyFacts(),
        States("stock", STOCK_LEVELS),
        States("alerts", ALERTS),
        States("orders", PURCHASE_ORDERS),
        Prices(),
    )


def count_committed(settings: Settings, starts: Offsets, ends: Offsets) -> Offsets:
    """The committed records that the log still has between these offsets, per partition."""
    found = Counter(get_place(message)[0] for message in read_between(settings, starts, ends))
    return {partition: found[partition] for partition in ends}


"""A table that the lake does not have is left out."""


def check_rules(contract: Contract, rows: pa.Table, *identity: str) -> Iterator[Frame]:
    """The rows and the items of their arrays, some at a time, by the rules of the contract."""
    rules = list_expectations(contract)
    for start in range(0, rows.num_rows, SLICE_ROWS):
        frames = build_frames(contract, rows.slice(start, SLICE_ROWS), *identity)
        for name, expected in rules.items():
            if expected and frames[name].num_rows:
                yield Frame(name, frames[name], tuple(expected.values()))
