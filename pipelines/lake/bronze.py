"""Copies the log to bronze: every record of every public topic, once, unchanged."""

from collections.abc import Collection

from pyspark.sql import SparkSession

from infra.errors import UserError
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets
from infra.settings import Settings
from pipelines.engine.bounded import Span, read_log
from pipelines.lake.session import prepare_for
from pipelines.lake.tables import TOPICS, Table

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


class OtherLog(UserError):
    """The log ends before the table does."""

    def __init__(self, behind: Collection[Partition]) -> None:
        named = ", ".join(f"{topic}/{partition}" for topic, partition in behind)
        super().__init__(
            f"The log should continue where the lake ends, but ends before in {named}: it is "
            "another log. Keep the folder lake under DATA_DIR elsewhere, or remove it."
        )


def append(spark: SparkSession, settings: Settings, table: Table) -> int:
    """Append the log's next records to the table, at most one batch. Returns the number of offsets
    left.

    It commits without new records too, as a sign of life. The session is prepared for all records
    that the table then holds: gold reads whole days of them. Raises OtherLog.
    """
    before = table.read_coverage()
    ends = read_end_offsets(create_admin(settings), [topic.name for topic in TOPICS])
    now = before.then(limit_ends(before.ends, ends, settings.pipeline_records_per_batch_max))
    prepare_for(spark, sum(now.ends.values()))
    records = (
        read_log(spark, settings, Span.of(before.ends, now.ends), headers=True)
        .select(*COLUMNS)
        .coalesce(1)
    )
    table.write(records.sortWithinPartitions("topic", "partition", "offset"), now)
    return sum(end - now.ends[at] for at, end in ends.items())


def limit_ends(starts: Offsets, ends: Offsets, records_max: int) -> dict[Partition, int]:
    """The ends, or earlier offsets that keep to `records_max`, in proportion. Raises OtherLog."""
    missing = {at: end - starts.get(at, 0) for at, end in ends.items()}
    if behind := sorted(at for at, records in missing.items() if records < 0):
        raise OtherLog(behind)
    waiting = sum(missing.values())
    if waiting <= records_max:
        return dict(ends)
    return {
        at: ends[at] - records + -(-records * records_max // waiting)
        for at, records in missing.items()
    }
