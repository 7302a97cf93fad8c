"""What is checked of each table, and over which rows. To check one more table: a line in
`list_checks`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

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


class Frame(NamedTuple):
    """Rows, and what is expected of them."""

    suite: str
    rows: pa.Table
    expectations: Sequence[Expectation]


class Check(NamedTuple):
    """The check of a table."""

    locate: Callable[[Folders], Folder]
    measure: Callable[[Folders, Pinned, Offsets, Offsets], Iterator[Frame]]
    """The frames to check of the rows that came from these offsets of the log."""
    in_parts: bool = False
    """Whether the rows of one part of the log can be checked without those of another."""


def measure_records(
    count: sums.Count, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
) -> Iterator[Frame]:
    """Bronze: every record of the log is there once."""
    counts = sums.count_records(table.open(is_beyond(starts)), starts, ends, count)
    equal, no_less = (
        gxe.ExpectColumnPairValuesToBeEqual,
        gxe.ExpectColumnPairValuesAToBeGreaterThanB,
    )
    yield Frame(
        "records of each partition",
        counts,
        (
            equal(
                column_A="records",
                column_B="different",
                description="every record is there once",
            ),
            no_less(
                column_A="gaps_max",
                column_B="gaps",
                or_equal=True,
                description="every record of the log is there",
            ),
            no_less(
                column_A="end",
                column_B="after_last",
                or_equal=True,
                description="no record from where on it says it holds none",
            ),
        ),
    )


def measure_events(
    topic: Contract, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
) -> Iterator[Frame]:
    """Silver: each event keeps the rules of its contract, and is there once."""
    events = table.open(is_between(starts, ends)).to_table()
    yield from check_rules(topic, events, *PLACE)
    if events.num_rows:
        time, span = pc.field("event_time"), pc.min_max(events["event_time"])
        near = table.open((time >= span["min"]) & (time <= span["max"]))
        copies = sums.find_copies(events.select(["_partition", *IDENTITY]), near)
        yield Frame("copies", copies, (expect_no_row("an event is there once"),))


def measure_days(
    folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
) -> Iterator[Frame]:
    """Gold: the days of the new events are the sums of silver."""
    days: set[int] = set()
    for topic in MOVES:
        silver = pin(folders.silver(topic))
        days |= list_days(silver, select(starts, topic), select(ends, topic))
    gold = table.open(pc.field("day").isin(pa.array(days, pa.int32()).cast(pa.date32())))
    wrong = sums.find_wrong_sums(gold, open_silver(folders, ends, is_on(days)))
    yield Frame("sums of silver", wrong, (expect_no_row("a day is the sum of its events"),))


def measure_state(
    contract: Contract, folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
) -> Iterator[Frame]:
    """A table of gold that each version replaces: its rows keep the rules of a contract."""
    yield from check_rules(contract, table.open().to_table())


def measure_prices(
    folders: Folders, table: Pinned, starts: Offsets, ends: Offsets
) -> Iterator[Frame]:
    """The table of prices: each holds for a time."""
    order = expect_order("holds_from", "holds_until", or_equal=False)
    order.description = "a price holds until a later moment than from"
    yield Frame("intervals", table.open().to_table(), (order,))


def check_gold(name: str, measure: Callable[..., Iterator[Frame]]) -> Check:
    return Check(lambda folders: folders.gold(name), measure)


def list_checks(settings: Settings) -> tuple[Check, ...]:
    """A check of each table, with the log that these settings name.

    A table that the lake does not have is left out.
    """
    count = partial(count_committed, settings)
    return (
        Check(lambda folders: folders.bronze, partial(measure_records, count)),
        *[
            Check(
                partial(Folders.silver, topic=topic), partial(measure_events, topic), in_parts=True
            )
            for topic in EVENTS
        ],
        Check(lambda folders: folders.daily_facts, measure_days),
        check_gold("stock", partial(measure_state, STOCK_LEVELS)),
        check_gold("alerts", partial(measure_state, ALERTS)),
        check_gold("orders", partial(measure_state, PURCHASE_ORDERS)),
        check_gold("prices", measure_prices),
    )


def count_committed(settings: Settings, starts: Offsets, ends: Offsets) -> Offsets:
    """The committed records that the log still has between these offsets, per partition."""
    found = Counter(get_place(message)[0] for message in read_between(settings, starts, ends))
    return {partition: found[partition] for partition in ends}


def check_rules(contract: Contract, rows: pa.Table, *identity: str) -> Iterator[Frame]:
    """The rows and the items of their arrays, some at a time, by the rules of the contract."""
    rules = list_expectations(contract)
    for start in range(0, rows.num_rows, SLICE_ROWS):
        frames = build_frames(contract, rows.slice(start, SLICE_ROWS), *identity)
        for name, expected in rules.items():
            if expected and frames[name].num_rows:
                yield Frame(name, frames[name], tuple(expected.values()))
