"""A batch of the lake: from the log to bronze, to silver, to gold; then the tables of states."""

import logging
import time
from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets
from infra.lake import Coverage
from infra.settings import Settings
from pipelines.engine import archive
from pipelines.engine.archive import OtherLog, is_between
from pipelines.engine.bounded import Span, read_log
from pipelines.engine.sink import refuse_newer
from pipelines.lake.orders import refresh_orders
from pipelines.lake.prices import refresh_prices
from pipelines.lake.session import prepare_for
from pipelines.lake.tables import EVENTS, TOPICS, Lake, Table
from pipelines.lake.transform import (
    IDENTITY,
    MOVES,
    accept,
    is_on_days,
    keep_first_copies,
    sum_daily_facts,
    to_day_number,
)
from pipelines.lake.views import refresh_views

log = logging.getLogger("lake")

TIDY_BATCHES = 100
"""The number of commits of a table between two tidyings: joining small files, removing old ones."""


class Work:
    """The lake's batches, and the tidying of its tables."""

    def __init__(self, spark: SparkSession, settings: Settings, lake: Lake) -> None:
        self._spark, self._settings, self._lake = spark, settings, lake
        for table in lake.tables:
            table.make(spark)
        self._tidied = {
            table.folder: count_due(table.read_coverage().batch) for table in lake.tables
        }

    def batch(self) -> int:
        """Bring every table up to the log's end, or nearer. Returns the number of offsets left.

        Raises OtherLog, NewerSchema.
        """
        begun = time.monotonic()
        left = append(self._spark, self._settings, self._lake.bronze)
        until = self._lake.bronze.read_coverage()
        # After the records are read: none of them uses a schema that is registered later.
        refuse_newer("the lake", EVENTS)
        for topic in EVENTS:
            refine(self._spark, topic, self._lake.bronze, self._lake.silver(topic), until)
        sum_days(self._spark, self._lake)
        if self._lake.folders.root.on_disk:  # delta-rs was never tried with an object store
            refresh_prices(self._lake.folders)
            refresh_orders(self._lake.folders)
            refresh_views(self._settings, self._lake.folders)
        self._tidy_what_is_due()
        log.info("batch %d: %d left, %.1f s", until.batch, left, time.monotonic() - begun)
        return left

    def tidy(self) -> None:
        for table in self._lake.tables:
            table.tidy(self._spark)

    def _tidy_what_is_due(self) -> None:
        for table in self._lake.tables:
            reached = count_due(table.read_coverage().batch)
            if reached > self._tidied[table.folder]:
                table.tidy(self._spark)
                self._tidied[table.folder] = reached


def count_due(batch: int) -> int:
    """The number of tidyings that are due for a table with so many batches."""
    return batch // TIDY_BATCHES


def append(spark: SparkSession, settings: Settings, bronze: Table) -> int:
    """Append the log's next records, unchanged, at most one batch. Returns the number of offsets
    left.

    It commits without new records too, as a sign of life. The session is prepared for all records
    that the table then holds: gold reads whole days of them. Raises OtherLog.
    """
    before = bronze.read_coverage()
    ends = read_end_offsets(create_admin(settings), [topic.name for topic in TOPICS])
    after = before.then(limit_ends(before.ends, ends, settings.pipeline_records_per_batch_max))
    prepare_for(spark, sum(after.ends.values()))
    records = (
        read_log(spark, settings, Span.of(before.ends, after.ends), headers=True)
        .select(*archive.COLUMNS, "headers")
        .coalesce(1)
    )
    bronze.write(records.sortWithinPartitions("topic", "partition", "offset"), after)
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


def refine(
    spark: SparkSession, topic: Contract, bronze: Table, silver: Table, until: Coverage
) -> None:
    """Append the accepted events of the topic, each once, that bronze has beyond silver."""
    before, ends = silver.read_coverage(), until.of(topic.name)
    if before.ends == ends:
        return
    records = bronze.read(spark).where(F.col("topic") == topic.name)
    beyond = records.where(is_between("partition", "offset", before.ends, ends))
    new = keep_first_copies(accept(topic, beyond)).persist()
    try:
        silver.write(drop_known(new, silver.read(spark)), before.then(ends))
    finally:
        new.unpersist()


def drop_known(new: DataFrame, silver: DataFrame) -> DataFrame:
    """The events without an earlier copy in `silver`, with the same columns."""
    [oldest] = new.agg(F.min(F.unix_millis("event_time")).alias("ms")).collect()
    if oldest["ms"] is None:
        return new
    near = silver.where(F.col("event_time") >= F.timestamp_millis(F.lit(oldest["ms"])))
    identity = ["_partition", *IDENTITY]
    return new.join(near.select(*identity), identity, "left_anti")


def sum_days(spark: SparkSession, lake: Lake) -> None:
    """Bring gold up to silver: the days with new events, again as a whole.

    It replaces whole days, so a repetition changes nothing.
    """
    before = lake.gold.read_coverage()
    ends = {
        partition: end
        for topic in MOVES
        for partition, end in lake.silver(topic).read_coverage().ends.items()
    }
    if before.ends == ends:
        return
    events = {topic: lake.silver(topic).read(spark) for topic in MOVES}
    happened = [
        events[topic].where(is_between("_partition", "_offset", before.of(topic.name), new))
        for topic in MOVES
        if (
            new := {partition: end for partition, end in ends.items() if partition[0] == topic.name}
        )
    ]
    days = list_changed_days(happened)
    rows = sum_daily_facts(*[events[topic].where(is_on_days(days)) for topic in MOVES])
    listed = ", ".join(f"date_from_unix_date({day})" for day in days)
    lake.gold.write(rows, before.then(ends), instead_of=f"day IN ({listed})" if days else None)


def list_changed_days(happened: Iterable[DataFrame]) -> list[int]:
    """The days of the events, as numbers from 1970."""
    of_each = [events.select(to_day_number("event_time").alias("day")) for events in happened]
    return sorted(row["day"] for row in reduce(DataFrame.union, of_each).distinct().collect())
