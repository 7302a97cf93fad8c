"""Lines of readable records as rows of a table, with their movements on a shelf."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from contracts import ADJUSTMENTS, HEARTBEATS, RECEIPTS, REFUNDS, SHIPMENTS
from infra.kafka import Record
from ops.verify.validation import Content, Event

LINES_PER_CHUNK = 100_000

MOVEMENTS = ("sold", "refunded", "received", "adjusted", "dispatched", "closed")
"""The movements of a line, in units; `closed` means no longer in transit."""

COLUMNS: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "sequence": pa.int64(),
    "on_time": pa.bool_(),
    "event_id": pa.string(),
    "event_time": pa.timestamp("ms", tz="UTC"),
    "published": pa.timestamp("ms", tz="UTC"),
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


Line = dict[str, Any]
"""A row of EXTRACTED."""


def build_chunks(events: Iterator[tuple[Record, int | None, Content]]) -> Iterator[pa.Table]:
    lines: list[Line] = []
    for record, sequence, content in events:
        lines += list_lines(record, sequence, content)
        if len(lines) >= LINES_PER_CHUNK:
            yield pa.Table.from_pylist(lines, EXTRACTED)
            lines = []
    yield pa.Table.from_pylist(lines, EXTRACTED)


def list_lines(record: Record, sequence: int | None, content: Content) -> list[Line]:
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


def read_movements(topic: str, happened: Event) -> Iterator[tuple[str | None, dict[str, Any]]]:
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
