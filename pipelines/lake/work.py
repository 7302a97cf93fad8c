"""A batch of the lake: from the log to bronze, to silver, to gold; then the tables of states."""

import logging
import time
from datetime import date, timedelta
from operator import attrgetter

import pyarrow as pa

from contracts import Contract
from contracts.schemas import find_registered_since
from contracts.times import EPOCH
from infra.kafka import Offsets, Partition, create_admin, read_between, read_end_offsets, to_record
from infra.lake import Coverage
from infra.settings import Settings
from ops.control.reading import NewerSchema
from pipelines.engine.archive import LogTruncated, OtherLog, find_truncated
from pipelines.lake.orders import refresh_orders
from pipelines.lake.prices import refresh_prices
from pipelines.lake.tables import EVENTS, TOPICS, Lake, Table, is_between, query, read_records
from pipelines.lake.transform import FACTS, MOVES, accept, is_on, keep_new, list_days
from pipelines.lake.views import refresh_views

log = logging.getLogger("lake")

RECORDS_MAX = 20_000
"""The records of a batch, which are in memory together."""


def run_batch(settings: Settings, lake: Lake) -> int:
    """Bring every table up to the log's end, or nearer. Returns the number of offsets left.

    Raises OtherLog, LogTruncated, NewerSchema.
    """
    begun = time.monotonic()
    left = append(settings, lake.bronze)
    until = lake.bronze.read_coverage()
    # After the records are read: none of them uses a schema that is registered later.
    for topic in EVENTS:
        for number in find_registered_since({topic.name}):
            raise NewerSchema(topic.name, number)
    for topic in EVENTS:
        refine(topic, lake.bronze, lake.silver(topic), until)
    sum_days(lake)
    refresh_prices(lake.folders)
    refresh_orders(lake.folders)
    refresh_views(settings, lake.folders)
    log.info("batch %d: %d left, %.1f s", until.batch, left, time.monotonic() - begun)
    return left


def append(settings: Settings, bronze: Table) -> int:
    """Append the log's next records, unchanged, at most one batch. Returns the number of offsets
    left.

    It commits without new records too, as a sign of life. Raises OtherLog, LogTruncated.
    """
    before, names = bronze.read_coverage(), [topic.name for topic in TOPICS]
    ends = read_end_offsets(create_admin(settings), names)
    records_max = min(RECORDS_MAX, settings.pipeline_records_per_batch_max)
    after = before.then(limit_ends(before.ends, ends, records_max))
    if begins := find_truncated(settings, names, before.ends):
        raise LogTruncated(begins, "The records before are in no table: begin a lake of this log.")
    records = map(to_record, read_between(settings, before.ends, after.ends))
    rows = [
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.published_ms * 1000,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
        }
        for record in sorted(records, key=attrgetter("topic", "partition", "offset"))
    ]
    bronze.append(pa.Table.from_pylist(rows, bronze.schema), after)
    return sum(end - after.ends[partition] for partition, end in ends.items())


def limit_ends(starts: Offsets, ends: Offsets, records_max: int) -> dict[Partition, int]:
    """The ends, or earlier offsets that keep to `records_max`, in proportion. Raises OtherLog."""
    missing = {partition: end - starts.get(partition, 0) for partition, end in ends.items()}
    if behind := {
        partition: starts[partition] for partition, records in missing.items() if records < 0
    }:
        raise OtherLog(behind)
    waiting = sum(missing.values())
    if waiting <= records_max:
        return dict(ends)
    return {
        partition: ends[partition] - records + -(-records * records_max // waiting)
        for partition, records in missing.items()
    }


def refine(topic: Contract, bronze: Table, silver: Table, until: Coverage) -> None:
    """Append the accepted events of the topic, each once, that bronze has beyond silver."""
    ends = until.of(topic.name)
    while (before := silver.read_coverage()).ends != ends:
        after = before.then(limit_ends(before.ends, ends, RECORDS_MAX))
        records = read_records(bronze.folder, topic.name, before.ends, after.ends)
        new = keep_new(accept(topic, records), silver.open())
        silver.append(pa.Table.from_pylist(new, silver.schema), after)


def sum_days(lake: Lake) -> None:
    """Bring gold up to silver: the days with new events, again as a whole.

    It replaces whole days, so a repetition changes nothing.
    """
    before = lake.gold.read_coverage()
    kept = {topic: lake.silver(topic).read_coverage().ends for topic in MOVES}
    after = before.then({place: end for ends in kept.values() for place, end in ends.items()})
    if before.ends == after.ends:
        return
    days = set[int]().union(
        *[
            list_days(lake.silver(topic).open(is_between(before.ends, ends)))
            for topic, ends in kept.items()
        ]
    )
    if not days:
        lake.gold.append(lake.gold.schema.empty_table(), after)
        return
    events = {topic.entity: lake.silver(topic).open(is_on(days)) for topic in MOVES}
    facts = query(FACTS, **events).cast(lake.gold.schema)
    lake.gold.replace(facts, after, f"day IN ({', '.join(map(render_day, days))})")


def render_day(day: int) -> str:
    date_of: date = EPOCH.date() + timedelta(days=day)
    return f"'{date_of}'"
