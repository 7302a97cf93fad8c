"""The oracle of the inventory pipeline: its answer at given offsets, by a batch read of the log.

It shares only the contracts with the pipeline. It has its own code, in another engine, to read,
decode, deduplicate and judge lateness.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from contracts import RELEASES, STOCK_LEVELS
from infra.kafka import Offsets, Partition, Record
from infra.settings import Settings
from ops.verify.amount import create_amount
from ops.verify.inventory_lines import EXTRACTED, build_chunks
from ops.verify.log import number_records, read
from ops.verify.validation import Content, Unreadable, read_record

Row = dict[str, Any]
Place = tuple[str, int, int]

UNREADABLE = pa.schema([EXTRACTED.field(name) for name in ("store_id", "topic", "sequence")])
"""An unreadable record of the simulator; its key still names the store."""


@dataclass(frozen=True)
class Book:
    """The record accounting of one partition."""

    read: int
    applied: int
    duplicate: int
    quarantined: int


class Oracle:
    """The log below some offsets, loaded once, for queries."""

    def __init__(self, settings: Settings, ends: Offsets) -> None:
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
        for lines in build_chunks(self._read_contents(settings)):
            self.engine.register("lines", lines)
            self.engine.execute("insert into extracted from lines")
        self.load("unreadable", pa.Table.from_pylist(self._lost, UNREADABLE))
        self.engine.execute(f"create view applied as {read_query('applied')}")

    def load(self, table: str, rows: pa.Table) -> None:
        """Create a table of the rows."""
        self.engine.register("rows_to_load", rows)
        self.engine.execute(f"create or replace table {table} as from rows_to_load")

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

    def _read_contents(self, settings: Settings) -> Iterator[tuple[Record, int | None, Content]]:
        for record, sequence in number_records(read(settings, self.ends)):
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
