"""Accepted events as tables of an engine: a row per line where an event has lines, else per event.

Times are milliseconds. Only the first copy of an event in its partition is kept. A release
counts in the accounting alone, since windows do not take releases.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa

from audit.inventory import Book, Place
from audit.validation import Event, Content, Unreadable, read_record
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

Row = dict[str, Any]

ROWS_PER_CHUNK = 100_000

TEXT, NUMBER = pa.string(), pa.int64()
META: Mapping[str, pa.DataType] = {
    "topic": TEXT,
    "partition": NUMBER,
    "offset": NUMBER,
    "published": NUMBER,
    "event_id": TEXT,
    "event_time": NUMBER,
}
LINES: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("store_id", "cashier_id", "card_token", "sku"), TEXT),
    **dict.fromkeys(("line", "units", "unit_price_cents"), NUMBER),
}
TABLES: Mapping[str, tuple[str, Mapping[str, pa.DataType]]] = {
    RECEIPTS.name: ("receipt", {**LINES, "customer_id": TEXT}),
    REFUNDS.name: ("refund", {**LINES, "receipt_event_id": TEXT, "receipt_event_time": NUMBER}),
    PRICE_CHANGES.name: ("price", {"effective_at": NUMBER, "sku": TEXT, "price_cents": NUMBER}),
    PROMOTIONS.name: (
        "plan",
        {
            "sku": TEXT,
            **dict.fromkeys(
                ("effective_at", "starts_at", "ends_at", "usual_price_cents", "price_cents"), NUMBER
            ),
        },
    ),
    SHIPMENTS.name: (
        "shipment",
        {
            **dict.fromkeys(("store_id", "purchase_order_id", "status", "sku"), TEXT),
            **dict.fromkeys(("line", "dispatched_units", "received_units"), NUMBER),
        },
    ),
    ADJUSTMENTS.name: (
        "adjustment",
        {**dict.fromkeys(("store_id", "sku", "reason"), TEXT), "units": NUMBER},
    ),
    PRODUCTS.name: (
        "product",
        {
            "sku": TEXT,
            **dict.fromkeys(
                ("effective_at", "unit_cost_cents", "pack_size_units", "lead_time_days"), NUMBER
            ),
        },
    ),
    STORES.name: (
        "store",
        {
            "effective_at": NUMBER,
            "store_id": TEXT,
            "latitude_microdegrees": NUMBER,
            "longitude_microdegrees": NUMBER,
        },
    ),
}
"""By topic: its table, and the columns besides META. `line` counts from zero."""

ACCEPTED = "accepted"
SCHEMAS = {
    ACCEPTED: pa.schema(META),
    **{name: pa.schema({**META, **columns}) for name, columns in TABLES.values()},
}
"""By table; `accepted` has a row per accepted record of any topic, for the accounting."""

AS_OF = {"price": "sku", "plan": "sku", "product": "sku", "store": "store_id"}
"""Dimension versions: each holds from `since` on until the next one of its key."""


class Tables:
    """The tables of these records, in an engine of their own."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.rejected: dict[Place, Collection[str]] = {}
        """The places of rejected records, and the reasons that the quarantine may give; none: any
        reason."""
        self.engine = duckdb.connect()
        waiting: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
        for name in SCHEMAS:
            self._put(f"create table {name} as", name, [])
        for record, content in self._accept(records):
            for name, row in rows(record, content):
                waiting[name].append(row)
                if len(waiting[name]) >= ROWS_PER_CHUNK:
                    self._put(f"insert into {name}", name, waiting[name])
                    waiting[name] = []
        for name, left in waiting.items():
            self._put(f"insert into {name}", name, left)
        for name, _ in TABLES.values():
            self.engine.execute(first_copies(name))
        for name, key in AS_OF.items():
            self.engine.execute(build_since_sql(name, key))

    def books(self, ends: Offsets) -> dict[Partition, Book]:
        """The accounting of the records below the ends, which are all there are."""
        counted = self.engine.execute(
            "select topic, partition, count(distinct event_id), count(*) from accepted group by all"
        ).fetchall()
        by_partition = {(topic, partition): counts for topic, partition, *counts in counted}
        rejected = Counter((topic, partition) for topic, partition, _ in self.rejected)
        books = {}
        for at, end in ends.items():
            applied, accepted = by_partition.get(at, (0, 0))
            books[at] = Book(end, applied, accepted - applied, rejected[at])
        return books

    def _accept(self, records: Iterable[Record]) -> Iterator[tuple[Record, Content]]:
        for record in records:
            place = record.topic, record.partition, record.offset
            try:
                content = read_record(record)
            except Unreadable as error:
                self.rejected[place] = error.reasons
                continue
            if content.untimely:
                self.rejected[place] = (content.untimely,)
            else:
                yield record, content

    def _put(self, verb: str, name: str, some: list[Row]) -> None:
        self.engine.register("rows_to_put", pa.Table.from_pylist(some, SCHEMAS[name]))
        self.engine.execute(f"{verb} from rows_to_put")


def rows(record: Record, content: Content) -> Iterator[tuple[str, Row]]:
    """The table and the row for each line of an accepted record."""
    happened = {name: plain(value) for name, value in content.movement.items()}
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
        for line in lines(happened):
            yield name, {**happened, **line, **meta}


def lines(happened: Event) -> Iterator[Row]:
    """The columns of each line; one line with its number alone where an event has none."""
    for number, line in enumerate(happened.get("lines", [{}])):
        yield {**line, "line": number}


def plain(value: Any) -> Any:
    """A time as milliseconds; any other value unchanged."""
    return (value - EPOCH) // MILLISECOND if isinstance(value, datetime) else value


def first_copies(table: str) -> str:
    return f"""
        create or replace table {table} as
        from {table}
        semi join (
            select partition, event_id, min("offset") as "offset" from {table} group by all
        ) using (partition, event_id, "offset")
    """


def build_since_sql(table: str, key: str) -> str:
    """SQL for `since`, with notice. Of two versions with one `since` it keeps the last."""
    return f"""
        create or replace table {table} as
        select *, greatest(effective_at, published + {NOTICE // MILLISECOND}) as since
        from {table}
        qualify row_number() over (
            partition by {key}, since order by "offset" desc
        ) = 1
    """
