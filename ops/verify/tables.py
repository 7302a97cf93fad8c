"""Accepted events as tables: a row per line where an event has lines, else per event.

Times are milliseconds. The tables keep only the first copy of an event in its partition. A release
counts in the accounting only, since no window includes one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from contracts import (
    ADJUSTMENTS,
    NOTICE,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    STORES,
)
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Partition, Record
from ops.verify.inventory import Book, Place, Row
from ops.verify.sums import create_amount
from ops.verify.validation import Content, Unreadable, read_record

TEXT, NUMBER = pa.string(), pa.int64()
TYPES = {TEXT: "varchar", NUMBER: "bigint"}
ROWS_PER_CHUNK = 100_000


def define_columns(texts: str, numbers: str) -> dict[str, pa.DataType]:
    return {**dict.fromkeys(texts.split(), TEXT), **dict.fromkeys(numbers.split(), NUMBER)}


META = define_columns("topic event_id", "partition offset published event_time")
LINES = define_columns("store_id cashier_id card_token sku measure", "line units unit_price_cents")
TABLES: Mapping[str, tuple[str, Mapping[str, pa.DataType]]] = {
    RECEIPTS.name: ("receipt", {**LINES, "customer_id": TEXT}),
    REFUNDS.name: ("refund", {**LINES, "receipt_event_id": TEXT, "receipt_event_time": NUMBER}),
    PRICE_CHANGES.name: ("price", define_columns("sku", "effective_at price_cents")),
    PROMOTIONS.name: (
        "plan",
        define_columns("sku", "effective_at starts_at ends_at usual_price_cents price_cents"),
    ),
    SHIPMENTS.name: (
        "shipment",
        define_columns(
            "store_id purchase_order_id status sku", "line dispatched_units received_units"
        ),
    ),
    ADJUSTMENTS.name: ("adjustment", define_columns("store_id sku reason", "units")),
    PRODUCTS.name: (
        "product",
        define_columns(
            "sku measure", "effective_at unit_cost_cents pack_size_units lead_time_days"
        ),
    ),
    STORES.name: (
        "store",
        define_columns("store_id", "effective_at latitude_microdegrees longitude_microdegrees"),
    ),
}
"""By topic, its table and the columns besides META. `line` counts from zero."""

ACCEPTED = "accepted"
SCHEMAS = {
    ACCEPTED: pa.schema(META),
    **{name: pa.schema({**META, **columns}) for name, columns in TABLES.values()},
}
"""The schemas by table; `accepted` has a row per accepted record, for the accounting."""

AS_OF = {"price": "sku", "plan": "sku", "product": "sku", "store": "store_id"}
"""Dimension versions: each holds from `since` on until the next one of its key."""


class Tables:
    """The tables of some records, in an engine of their own, and the records' accounting."""

    def __init__(self, records: Iterable[Record], ends: Offsets | None = None) -> None:
        """`ends`: the ends of the partitions that the accounting counts."""
        self.ends = ends or {}
        self._read: Counter[Partition] = Counter()
        self._rejected: dict[Place, Collection[str]] = {}
        # Until a chunk is full. With few rows a second thread costs more than it does.
        self.engine = duckdb.connect(config={"threads": 1})
        create_amount(self.engine)
        self.engine.execute(render_tables())
        waiting: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
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
            self.engine.execute(render_since(name, key))

    def select(self, sql: str) -> list[Row]:
        """The rows of a query over the tables."""
        return list(self.engine.sql(sql).to_arrow_table().to_pylist())

    @property
    def rejected(self) -> Mapping[Place, Collection[str]]:
        """The places of rejected records, and the possible reasons of the quarantine; none: any
        reason. Dimension topics are not in the accounting.
        """
        return {at: why for at, why in self._rejected.items() if at[:2] in self.ends}

    def count_books(self) -> dict[Partition, Book]:
        """The record accounting. It counts each number and derives none from the others."""
        counted = self.engine.execute(
            "select topic, partition, count(distinct (event_id, event_time)), count(*)"
            " from accepted group by all"
        ).fetchall()
        by_partition = {(topic, partition): counts for topic, partition, *counts in counted}
        rejected = Counter((topic, partition) for topic, partition, _ in self._rejected)
        books = {}
        for at in self.ends:
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
                self._rejected[place] = error.reasons
                continue
            if content.untimely:
                self._rejected[place] = (content.untimely,)
            else:
                yield record, content

    def _put(self, name: str, rows: list[Row]) -> None:
        self.engine.register("rows_to_put", pa.Table.from_pylist(rows, SCHEMAS[name]))
        self.engine.execute(f"insert into {name} from rows_to_put")


@cache
def render_tables() -> str:
    """SQL for the empty tables."""
    return ";".join(f"create table {name} ({render_columns(name)})" for name in SCHEMAS)


def render_columns(table: str) -> str:
    return ", ".join(f'"{column.name}" {TYPES[column.type]}' for column in SCHEMAS[table])


def build_rows(record: Record, content: Content) -> Iterator[tuple[str, Row]]:
    """The table and the row for each line of an accepted record."""
    happened = {name: to_milliseconds(value) for name, value in content.movement.items()}
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
        for number, line in enumerate(happened.get("lines", [{}])):
            yield name, {**happened, **line, "line": number, **meta}


def to_milliseconds(value: Any) -> Any:
    """A time as milliseconds; any other value unchanged."""
    return (value - EPOCH) // MILLISECOND if isinstance(value, datetime) else value


def restore_times(row: Row, *names: str) -> Row:
    """The row with these milliseconds as datetimes."""
    return {**row, **{name: EPOCH + row[name] * MILLISECOND for name in names}}


def render_first_copies(table: str) -> str:
    return f"""
        create or replace table {table} as
        from {table}
        semi join (
            select partition, event_id, event_time, min("offset") as "offset"
            from {table} group by all
        ) using (partition, event_id, event_time, "offset")
    """


def render_since(table: str, key: str) -> str:
    """SQL for `since`, with notice. Of versions with the same `since` it keeps the last."""
    return f"""
        create or replace table {table} as
        select *, greatest(effective_at, published + {NOTICE // MILLISECOND}) as since
        from {table}
        qualify row_number() over (
            partition by {key}, since order by "offset" desc
        ) = 1
    """
