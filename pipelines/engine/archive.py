"""The archive: the lake's raw copy of the log, for generations that need records which the log no
longer holds.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import reduce
from operator import or_
from types import MappingProxyType

from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.errors import UserError
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets, read_start_offsets
from infra.lake import locate_folders, read_coverage
from infra.settings import Settings

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value")
"""The columns of a record that a pipeline reads."""

RECORD = "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY"

ZERO: Offsets = MappingProxyType({})


class Source(StrEnum):
    """The source of the log's first records."""

    LOG = "log"
    ARCHIVE = "archive"


class LogTruncated(UserError):
    """The log no longer holds its first record."""

    def __init__(self, begins: Offsets, what_to_do: str) -> None:
        super().__init__(
            "The log should hold its first record, but begins later: "
            f"{render(begins)}. {what_to_do}"
        )


class Gap(UserError):
    """The archive and the log together lack records."""

    def __init__(self, begins: Offsets, ends: Offsets) -> None:
        holds = {at: ends.get(at, 0) for at in begins}
        super().__init__(
            f"The archive should reach to where the log begins, {render(begins)}, but ends at "
            f"{render(holds)}: the records in between are lost. Only a generation that has read "
            "them can continue."
        )


class NoArchive(UserError):
    """There is no archive to read."""

    def __init__(self, topics: Iterable[str]) -> None:
        super().__init__(
            f"The lake's archive should hold records of {', '.join(sorted(topics))}, but holds "
            "none. Keep one: make down && make up LAKE=on · the log is complete, so a replay can "
            "read it alone: leave --source out"
        )


class OtherLog(UserError):
    """The archive is a copy of another log."""

    def __init__(self, ends: Offsets) -> None:
        super().__init__(
            f"The log should continue where the archive ends, {render(ends)}, but ends before: it "
            "is another log. Keep the folder lake under DATA_DIR elsewhere, or remove it."
        )


def render(offsets: Offsets) -> str:
    return ", ".join(f"{topic}/{partition} at {at:,}" for (topic, partition), at in offsets.items())


def find_truncated(
    settings: Settings, topics: Iterable[str], wanted: Offsets = ZERO
) -> dict[Partition, int]:
    """The partitions that begin after the wanted offset, with their first offsets."""
    starts = read_start_offsets(create_admin(settings), topics)
    return {at: start for at, start in starts.items() if start > wanted.get(at, 0)}


def read_archive_ends(settings: Settings, topics: Collection[str]) -> dict[Partition, int]:
    """The offsets up to which the archive holds these topics; raises Gap, NoArchive, OtherLog."""
    client, holds = create_admin(settings), read_coverage(locate_folders(settings).bronze).ends
    starts, ends = read_start_offsets(client, topics), read_end_offsets(client, topics)
    if missing := {at: start for at, start in starts.items() if start > holds.get(at, 0)}:
        raise Gap(missing, holds)
    if not any(holds.get(at, 0) for at in starts):
        raise NoArchive(topics)
    if beyond := {at: holds[at] for at, end in ends.items() if holds.get(at, 0) > end}:
        raise OtherLog(beyond)
    return {at: holds.get(at, 0) for at in starts}


def read_records(
    spark: SparkSession, settings: Settings, starts: Offsets, ends: Offsets
) -> DataFrame:
    """The archive's records of a part of the log, in any order, with COLUMNS."""
    # The table's log names its files: Parquet, but for the topic, which is the folder's name. The
    # lake only appends and joins files, so a reader needs no engine of Delta.
    folder = locate_folders(settings).bronze
    files = DeltaTable(str(folder)).file_uris()
    read = spark.read.option("basePath", str(folder)).schema(RECORD).parquet(*files)
    of_topics = (
        (F.col("topic") == topic)
        & is_between("partition", "offset", starts, {at: ends[at] for at in ends if at[0] == topic})
        for topic in {topic for topic, _ in ends}
    )
    return read.where(reduce(or_, of_topics)).select(*COLUMNS)


def sort_records(read: DataFrame) -> DataFrame:
    """The records with COLUMNS, each partition in order: an event's first copy counts."""
    whole = read.repartition("topic", "partition")
    return whole.sortWithinPartitions("topic", "partition", "offset")


def is_between(partition: str, offset: str, starts: Offsets, ends: Offsets) -> Column:
    """Whether a record lies in this part of its topic."""
    parts = (
        (F.col(partition) == at[1]) & (F.col(offset) >= starts.get(at, 0)) & (F.col(offset) < end)
        for at, end in ends.items()
    )
    return reduce(or_, parts)


def measure_disk_bytes(settings: Settings, topics: Iterable[str]) -> int:
    """The archive's bytes on disk for the topics."""
    return sum(
        (locate_folders(settings).bronze / f"topic={topic}").count_bytes() for topic in topics
    )
