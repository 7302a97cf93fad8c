"""The oracle of the lake: events and daily facts, by a batch read of the log outside Spark."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from contracts.measures import AMOUNT
from infra.kafka import Record
from ops.verify.sums import fit_sums
from ops.verify.validation import Event, Unreadable, find_untimeliness, parse_event, read_record

Place = tuple[int, int]
"""Partition and offset."""

Events = Mapping[str, Mapping[Place, Event]]
"""By topic: the content of each accepted record that is the first of its event in its partition."""

COLUMNS: dict[str, pa.DataType] = {
    **dict.fromkeys(("topic", "event_id", "store_id", "sku", "measure"), pa.string()),
    **dict.fromkeys(("partition", "sold", "refunded", "received", "adjusted"), pa.int64()),
    "unit_price_cents": pa.int64(),
    "event_time": pa.timestamp("ms", tz="UTC"),
}
MOVES = pa.schema(COLUMNS)
"""The line of an event that moves stock."""


def collect_events(records: Iterable[Record], topics: Iterable[str]) -> Events:
    events: dict[str, dict[Place, Event]] = {topic: {} for topic in topics}
    seen: set[tuple[str, int, str, datetime]] = set()
    for record in records:
        if record.topic not in events or (happened := accept_event(record)) is None:
            continue
        identity = record.topic, record.partition, happened["event_id"], happened["event_time"]
        if identity not in seen:
            seen.add(identity)
            events[record.topic][record.partition, record.offset] = happened
    return events


def accept_event(record: Record) -> Event | None:
    """The content of the record, if it is valid and in time."""
    try:
        read_record(record)  # this validates the content of a release, too
        happened = parse_event(record)
    except Unreadable:
        return None
    return None if find_untimeliness(record, happened) else happened


def sum_daily_facts(events: Events) -> list[dict[str, Any]]:
    """The movements by UTC day, store and sku; cents are clipped to 64 bits."""
    engine = duckdb.connect()
    engine.execute("set timezone = 'UTC'")
    engine.execute(AMOUNT)
    engine.register("moves", pa.Table.from_pylist(list(list_moves(events)), MOVES))
    query = Path(__file__).with_name("daily_facts.sql").read_text()
    rows = [fit_sums(row) for row in engine.sql(query).to_arrow_table().to_pylist()]
    for row in rows:
        del row["sums_in_full"]
    return rows


def list_moves(events: Events) -> Iterator[dict[str, Any]]:
    for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS):
        for (partition, _), happened in events[topic.name].items():
            of_event = {name: happened[name] for name in ("event_id", "event_time", "store_id")}
            place = {"topic": topic.name, "partition": partition}
            for line in happened.get("lines", [happened]):
                amounts = read_amounts(topic.name, happened, line)
                yield {**place, **of_event, "sku": line["sku"], **amounts}


def read_amounts(topic: str, happened: Event, line: Event) -> dict[str, Any]:
    if topic == ADJUSTMENTS.name:
        return {"adjusted": line["units"]}
    if topic == SHIPMENTS.name:
        return {"received": line["received_units"]} if happened["status"] == "received" else {}
    price = {"unit_price_cents": line["unit_price_cents"], "measure": line.get("measure")}
    return {"sold" if topic == RECEIPTS.name else "refunded": line["units"], **price}
