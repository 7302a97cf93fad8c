"""Accepted events as tables: a row per line where an event has lines, else per event.

Times are milliseconds. The tables keep only the first copy of an event in its partition. A release
counts in the accounting only, since no window includes one.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from runpy import run_path
from typing import Any, ClassVar

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
from infra.kafka import Offsets, Record
from ops.verify.inventory import Log, Row, define_columns
from ops.verify.validation import Content

TEXT, NUMBER = pa.string(), pa.int64()

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
            "store_id purchase_order_id status sku",
            "line dispatched_units received_units ordered_units",
        ),
    ),
    ADJUSTMENTS.name: ("adjustment", define_columns("store_id sku reason", "units")),
    PRODUCTS.name: (
        "product",
        define_columns(
            "sku measure",
            "effective_at unit_cost_cents pack_size_units lead_time_days lead_time_hours",
        ),
    ),
    STORES.name: (
        "store",
        define_columns("store_id", "effective_at latitude_microdegrees longitude_microdegrees"),
    ),
}
"""By topic, its table and the columns besides META. `line` counts from zero."""

AS_OF = {"price": "sku", "plan": "sku", "product": "sku", "store": "store_id"}
"""Dimension versions: each holds from `since` on until the next one of its key."""


class Tables(Log):
    schemas: ClassVar[Mapping[str, pa.Schema]] = {
        name: pa.schema({**META, **columns}) for name, columns in TABLES.values()
    }

    def __init__(self, records: Iterable[Record], ends: Offsets | None = None) -> None:
        super().__init__(records, ends)
        for name in self.schemas:
            self.engine.execute(render_first_copies(name))
        for name, key in AS_OF.items():
            self.engine.execute(render_since(name, key))

    def build_rows(
        self, record: Record, sequence: int | None, content: Content | None
    ) -> Iterator[tuple[str, Row]]:
        if content is None or content.untimely or record.topic not in TABLES:
            return
        happened = {name: to_milliseconds(value) for name, value in content.movement.items()}
        meta = {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "published": record.published_ms,
            "event_id": content.event_id,
            "event_time": happened["event_time"],
        }
        name, _ = TABLES[record.topic]
        for number, line in enumerate(happened.get("lines", [{}])):
            yield name, {**happened, **line, "line": number, **meta}


def load_limits(code: Path, pipeline: str, name: str = "Thresholds") -> Any:
    """The pipeline's `Thresholds` in that copy of the code, or its `Policy`."""
    return run_path(str(code / "pipelines" / pipeline / f"{name.lower()}.py"))[name]()


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
