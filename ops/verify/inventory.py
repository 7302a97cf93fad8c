"""The oracle of the inventory pipeline: its answer at given offsets, by a batch read of the log.

It shares only the contracts with the pipeline. It has its own code, in another engine, to read,
decode, deduplicate and judge lateness.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from contracts import (
    ADJUSTMENTS,
    HEARTBEATS,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    STOCK_LEVELS,
)
from infra.kafka import Offsets, Partition, Record
from ops.verify.log import number_records
from ops.verify.sums import create_amount
from ops.verify.validation import Content, Event, Unreadable, read_record

Row = dict[str, Any]
Place = tuple[str, int, int]

MOVEMENTS = ("sold", "refunded", "received", "adjusted", "dispatched", "closed")
"""The movements of a line, in units; `closed` means no longer in transit."""

TIME = pa.timestamp("ms", tz="UTC")
COLUMNS: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "sequence": pa.int64(),
    "on_time": pa.bool_(),
    "event_id": pa.string(),
    "event_time": TIME,
    "published": TIME,
    "store_id": pa.string(),
    "sku": pa.string(),
    "unit_price_cents": pa.int64(),
    "measure": pa.string(),
    **dict.fromkeys(MOVEMENTS, pa.int64()),
}
EXTRACTED = pa.schema(COLUMNS)
"""One line of a readable record. `sequence`: its number among the simulator's records in the
partition; null for another publisher. A release has the line and the event time of its
original, and its own topic; its event_id joins the original's topic and id."""

UNREADABLE = pa.schema([EXTRACTED.field(name) for name in ("store_id", "topic", "sequence")])
"""An unreadable record of the simulator; its key still names the store."""

LINES_PER_CHUNK = 100_000


@dataclass(frozen=True)
class Book:
    """The record accounting of one partition."""

    read: int
    applied: int
    duplicate: int
    quarantined: int


class Oracle:
    """The log below some offsets, loaded once, for queries."""

    def __init__(self, records: Iterable[Record], ends: Offsets) -> None:
        self.ends = ends
        self._read: Counter[Partition] = Counter()
        self._unreadable: Counter[Partition] = Counter()
        self.rejected: dict[Place, Collection[str]] = {}
        """The places of rejected records, and the possible reasons of the quarantine; none: any
        reason."""
        self._lost: list[Row] = []
        self.simulated: Counter[Partition] = Counter()
        """The number of the simulator's records, by partition."""
        self.engine = duckdb.connect()
        self.engine.execute("set timezone = 'UTC'")
        self.engine.execute(f"create macro is_release(topic) as topic = '{RELEASES.name}'")
        create_amount(self.engine)
        self.load("extracted", EXTRACTED.empty_table())
        lines: list[Row] = []
        for record, sequence, content in self._read_contents(records):
            lines += list_lines(record, sequence, content)
            if len(lines) >= LINES_PER_CHUNK:
                self._insert(lines)
                lines = []
        self._insert(lines)
        self.load("unreadable", pa.Table.from_pylist(self._lost, UNREADABLE))
        self.engine.execute(f"create view applied as {read_query('applied')}")

    def load(self, table: str, rows: pa.Table) -> None:
        """Create a table of the rows."""
        self.engine.register("rows_to_load", rows)
        self.engine.execute(f"create or replace table {table} as from rows_to_load")

    def _insert(self, lines: list[Row]) -> None:
        self.engine.register("lines", pa.Table.from_pylist(lines, EXTRACTED))
        self.engine.execute("insert into extracted from lines")

    def compute_view(self) -> list[Row]:
        """The stock level of every shelf, in the order of the key."""
        return self.ask("stock_level")

    def compute_views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        return {STOCK_LEVELS.name: self.compute_view()}

    def ask(self, name: str) -> list[Row]:
        """The rows of the query of that name."""
        return list(self.engine.sql(read_query(name)).to_arrow_table().to_pylist())

    def count_books(self) -> dict[Partition, Book]:
        """The record accounting; each number is counted, and none derived from the others."""
        counted = self.engine.sql(
            """
            select
                topic,
                partition,
                count(distinct (event_id, event_time)) filter (where on_time),
                count(distinct "offset") filter (where on_time),
                count(distinct "offset") filter (where not on_time)
            from extracted
            group by all
            """
        ).fetchall()
        by_partition = {(topic, partition): counts for topic, partition, *counts in counted}
        books = {}
        for at in self.ends:
            applied, accepted, untimely = by_partition.get(at, (0, 0, 0))
            quarantined = untimely + self._unreadable[at]
            books[at] = Book(self._read[at], applied, accepted - applied, quarantined)
        return books

    def _read_contents(
        self, records: Iterable[Record]
    ) -> Iterator[tuple[Record, int | None, Content]]:
        for record, sequence in number_records(records):
            at = record.topic, record.partition
            self._read[at] += 1
            if sequence is not None:
                self.simulated[at] = sequence + 1
            try:
                content = read_record(record)
                if content.untimely:
                    self.rejected[*at, record.offset] = (content.untimely,)
                yield record, sequence, content
            except Unreadable as error:
                self.rejected[*at, record.offset] = error.reasons
                self._unreadable[at] += 1
                if sequence is not None:
                    store_id = (record.key or b"").decode()
                    self._lost.append(
                        {"store_id": store_id, "topic": record.topic, "sequence": sequence}
                    )


def read_query(name: str) -> str:
    """The text of a query beside this file."""
    return Path(__file__).with_name(f"{name}.sql").read_text()


def list_lines(record: Record, sequence: int | None, content: Content) -> list[Row]:
    """A row per line of the event."""
    happened = content.movement
    shared = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "sequence": sequence,
        "on_time": content.untimely is None,
        "event_id": content.event_id,
        "event_time": happened["event_time"],
        "published": record.published_ms,
        "store_id": happened.get("store_id"),
    }
    nothing = {"unit_price_cents": None, "measure": None, **dict.fromkeys(MOVEMENTS, 0)}
    return [
        {**shared, "sku": sku, **nothing, **movement}
        for sku, movement in read_movements(content.topic, happened)
    ]


def read_movements(topic: str, happened: Event) -> Iterator[tuple[str | None, Row]]:
    """The sku of each line, its movements in units, and of a sale its price and measure.

    A heartbeat has one line without a sku.
    """
    if topic == HEARTBEATS.name:
        yield None, {}
        return
    if topic == ADJUSTMENTS.name:
        yield happened["sku"], {"adjusted": happened["units"]}
        return
    for line in happened["lines"]:
        if topic == RECEIPTS.name:
            price = {"unit_price_cents": line["unit_price_cents"], "measure": line.get("measure")}
            yield line["sku"], {"sold": line["units"], **price}
        elif topic == REFUNDS.name:
            yield line["sku"], {"refunded": line["units"]}
        elif topic == SHIPMENTS.name and happened["status"] == "dispatched":
            yield line["sku"], {"dispatched": line["dispatched_units"]}
        elif topic == SHIPMENTS.name:
            units = {"received": line["received_units"], "closed": line["dispatched_units"]}
            yield line["sku"], units
        else:
            raise ValueError(f"The inventory is not moved by {topic}.")
