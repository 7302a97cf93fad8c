"""Accepted events as tables: a row per line where an event has lines, else per event.

Times are milliseconds. The tables keep only the first copy of an event in its partition. A release
counts in the accounting only, since no window includes one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from contracts import NOTICE
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Partition, Record
from ops.verify.amount import create_amount
from ops.verify.inventory import Book, Place
from ops.verify.table_schemas import ACCEPTED, AS_OF, NUMBER, SCHEMAS, TABLES, TEXT
from ops.verify.validation import Content, Event, Unreadable, read_record

Row = dict[str, Any]

ROWS_PER_CHUNK = 100_000
TYPES = {TEXT: "varchar", NUMBER: "bigint"}


class Tables:
    """The tables of these records, in a separate engine."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._read: Counter[Partition] = Counter()
        self.rejected: dict[Place, Collection[str]] = {}
        """The places of rejected records, and the possible reasons of the quarantine; none: any
        reason."""
        # Until a chunk is full. With few rows a second thread costs more than it does.
        self.engine = duckdb.connect(config={"threads": 1})
        create_amount(self.engine)
        waiting: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
        self.engine.execute(render_tables())
        for record, content in self._accept(records):
            for name, row in build_rows(record, content):
                waiting[name].append(row)
                if len(waiting[name]) >= ROWS_PER_CHUNK:
                    self.engine.execute("reset threads")
                    self._put(name, waiting[name])
                    waiting[name] = []
        for name, left in waiting.items():
            if left:
                self._put(name, left)
        for name, _ in TABLES.values():
            self.engine.execute(render_first_copies(name))
        for name, key in AS_OF.items():
            self.engine.execute(build_since_sql(name, key))

    def count_books(self, partitions: Iterable[Partition]) -> dict[Partition, Book]:
        """The accounting of all records in these partitions."""
        counted = self.engine.execute(
            "select topic, partition, count(distinct (event_id, event_time)), count(*)"
            " from accepted group by all"
        ).fetchall()
        by_partition = {(topic, partition): counts for topic, partition, *counts in counted}
        rejected = Counter((topic, partition) for topic, partition, _ in self.rejected)
        books = {}
        for at in partitions:
            applied, accepted = by_partition.get(at, (0, 0))
            books[at] = Book(self._read[at], applied, accepted - applied, rejected[at])
        return books

    def _accept(self, records: Iterable[Record]) -> Iterator[tuple[Record, Content]]:
        for record in records:
            place = record.topic, record.partition, record.offset
            self._read[record.topic, record.partition] += 1
            try:
                content = read_record(record)
            except Unreadable as error:
                self.rejected[place] = error.reasons
                continue
            if content.untimely:
                self.rejected[place] = (content.untimely,)
            else:
                yield record, content

    def _put(self, name: str, some: list[Row]) -> None:
        self.engine.register("rows_to_put", pa.Table.from_pylist(some, SCHEMAS[name]))
        self.engine.execute(f"insert into {name} from rows_to_put")


@cache
def render_tables() -> str:
    """SQL for the empty tables."""
    return ";".join(f"create table {name} ({render_columns(name)})" for name in SCHEMAS)


def render_columns(table: str) -> str:
    return ", ".join(f'"{one.name}" {TYPES[one.type]}' for one in SCHEMAS[table])


def build_rows(record: Record, content: Content) -> Iterator[tuple[str, Row]]:
    """The table and the row for each line of an accepted record."""
    happened = {name: simplify(value) for name, value in content.movement.items()}
    meta = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "published": record.published_ms,
        "event_id": content.event_id,
        "event_time": happened["event_time"],
    }
    yield ACCEPTED, meta
    if record.topic in TABLES:
        name, _ = TABLES[record.topic]
        for line in list_lines(happened):
            yield name, {**happened, **line, **meta}


def list_lines(happened: Event) -> Iterator[Row]:
    """The columns of each line; for an event without lines, one line with only its number."""
    for number, line in enumerate(happened.get("lines", [{}])):
        yield {**line, "line": number}


def simplify(value: Any) -> Any:
    """A time as milliseconds; any other value unchanged."""
    return (value - EPOCH) // MILLISECOND if isinstance(value, datetime) else value


def render_first_copies(table: str) -> str:
    return f"""
        create or replace table {table} as
        from {table}
        semi join (
            select partition, event_id, event_time, min("offset") as "offset"
            from {table} group by all
        ) using (partition, event_id, event_time, "offset")
    """


def build_since_sql(table: str, key: str) -> str:
    """SQL for `since`, with notice. Of versions with the same `since` it keeps the last."""
    return f"""
        create or replace table {table} as
        select *, greatest(effective_at, published + {NOTICE // MILLISECOND}) as since
        from {table}
        qualify row_number() over (
            partition by {key}, since order by "offset" desc
        ) = 1
    """
