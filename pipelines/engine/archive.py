"""The archive: the lake's raw copy of the log, for generations that need records which the log no
longer holds.
"""

import json
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import reduce
from operator import or_
from pathlib import Path
from types import MappingProxyType

from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from infra.errors import UserError
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets, read_start_offsets
from infra.lake import flatten_topics, group_by_topic, locate_folders, read_coverage
from infra.settings import Settings
from pipelines.engine.backlog import Backlog
from pipelines.engine.checkpoint import CHUNKS, Checkpoint

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


class OtherLog(UserError):
    """The archive is a copy of another log."""

    def __init__(self, ends: Offsets) -> None:
        super().__init__(
            f"The log should continue where the archive ends, {render(ends)}, but ends before: it "
            "is another log. Keep the folder lake under DATA_DIR elsewhere, or remove it."
        )


def render(offsets: Offsets) -> str:
    return ", ".join(
        f"{topic}/{partition} at {offset:,}" for (topic, partition), offset in offsets.items()
    )


def find_truncated(
    settings: Settings, topics: Iterable[str], wanted: Offsets = ZERO
) -> dict[Partition, int]:
    """The partitions that begin after the wanted offset, with their first offsets."""
    starts = read_start_offsets(create_admin(settings), topics)
    return select_beyond(starts, wanted)


def select_beyond(offsets: Offsets, others: Offsets) -> dict[Partition, int]:
    """The offsets that are larger than those of the others."""
    return {
        partition: offset
        for partition, offset in offsets.items()
        if offset > others.get(partition, 0)
    }


def read_archive_ends(settings: Settings, topics: Collection[str]) -> dict[Partition, int]:
    """The offsets up to which the archive holds these topics.

    Raises OtherLog, and UserError if the archive holds none of them or the log begins after it.
    """
    client, coverage = create_admin(settings), read_coverage(locate_folders(settings).bronze)
    starts, ends = read_start_offsets(client, topics), read_end_offsets(client, topics)
    holds = {partition: coverage.ends.get(partition, 0) for partition in starts}
    if missing := select_beyond(starts, holds):
        raise UserError(
            f"The archive should reach to where the log begins, {render(missing)}, but ends at "
            f"{render({partition: holds[partition] for partition in missing})}: the records in "
            "between are lost. Only a generation that has read them can continue."
        )
    if not any(holds.values()):
        raise UserError(
            f"The lake's archive should hold records of {', '.join(sorted(topics))}, but holds "
            "none. Keep one: make down && make up LAKE=on · the log is complete, so a replay can "
            "read it alone: leave --source out"
        )
    if beyond := select_beyond(holds, ends):
        raise OtherLog(beyond)
    return holds


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
        & is_between(
            "partition",
            "offset",
            starts,
            {partition: ends[partition] for partition in ends if partition[0] == topic},
        )
        for topic in {topic for topic, _ in ends}
    )
    return read.where(reduce(or_, of_topics)).select(*COLUMNS)


def is_between(partition_column: str, offset_column: str, starts: Offsets, ends: Offsets) -> Column:
    """Whether a record lies in this part of its topic."""
    parts = (
        (F.col(partition_column) == partition[1])
        & (F.col(offset_column) >= starts.get(partition, 0))
        & (F.col(offset_column) < end)
        for partition, end in ends.items()
    )
    return reduce(or_, parts)


def measure_disk_bytes(settings: Settings, topics: Iterable[str]) -> int:
    """The archive's bytes on disk for the topics."""
    return sum(
        (locate_folders(settings).bronze / f"topic={topic}").count_bytes() for topic in topics
    )


PREFIX = Path("archive") / "prefix.json"
"""A file in a generation's folder: where the log continues, by partition. Without it, the
generation reads only the log."""


@dataclass(frozen=True)
class ArchivePrefix:
    """The part of the log that a generation reads from the archive: below these offsets.

    Spark fixes a query's sources when it is created. So a generation that begins in the archive has
    both sources from the start: first chunks, a file each, while an empty folder stands in for the
    log; then the log, from exactly the next offset of each partition. A chunk has the same share of
    every partition, in the partition's order.
    """

    folder: Path
    """The generation's."""
    ends: Offsets

    @classmethod
    def of(cls, folder: Path) -> "ArchivePrefix | None":
        """The prefix of the generation; None if it reads only the log."""
        file = folder / PREFIX
        return cls(folder, flatten_topics(json.loads(file.read_text()))) if file.exists() else None

    def write(self) -> None:
        file = self.folder / PREFIX
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(group_by_topic(self.ends)))

    @property
    def chunks(self) -> Path:
        """The folder with a file for each chunk."""
        return self.folder / "archive" / "chunks"

    @property
    def empty(self) -> Path:
        """An empty folder that stands in for the log until the prefix is read."""
        return self.folder / "archive" / "empty"

    def count_unread(self, checkpoint: Checkpoint) -> int:
        """The number of the prefix's offsets that no finished batch has read."""
        read = checkpoint.read_committed()
        return sum(max(0, end - read.get(partition, 0)) for partition, end in self.ends.items())

    def measure_backlog(self, checkpoint: Checkpoint) -> Backlog:
        """The unread part of the prefix as a backlog, over the world time of all of it."""
        written = json.loads((self.folder / CHUNKS).read_text())
        span = timedelta(milliseconds=written["newest_ms"] - written["oldest_ms"])
        return Backlog(self.count_unread(checkpoint), span)


def write_chunks(
    spark: SparkSession, settings: Settings, prefix: ArchivePrefix, records_max: int
) -> None:
    """Write the chunks, each of at most so many offsets, unless all of them exist."""
    if (prefix.folder / CHUNKS).exists():
        return
    for folder in (prefix.chunks, prefix.empty):
        shutil.rmtree(folder, ignore_errors=True)  # of an interrupted attempt
        folder.mkdir()
    count = max(1, -(-sum(prefix.ends.values()) // records_max))
    ends = [
        {partition: end * n // count for partition, end in prefix.ends.items()}
        for n in range(count + 1)
    ]
    for number in range(count):
        records = read_records(spark, settings, ends[number], ends[number + 1])
        write_chunk(records, prefix, number)
    read = spark.read.parquet(str(prefix.chunks)).agg(
        F.min(F.unix_millis("timestamp")).alias("oldest_ms"),
        F.max(F.unix_millis("timestamp")).alias("newest_ms"),
    )
    [span] = read.collect()
    written = {"ends": [group_by_topic(each) for each in ends[1:]], **span.asDict()}
    draft = prefix.chunks.with_name("draft.json")
    draft.write_text(json.dumps(written))
    draft.rename(prefix.folder / CHUNKS)


def write_chunk(records: DataFrame, prefix: ArchivePrefix, number: int) -> None:
    """Write a chunk: Spark reads files in the order in which they were written."""
    draft = prefix.chunks.with_name("draft")
    whole = records.repartition(1).sortWithinPartitions("topic", "partition", "offset")
    whole.write.mode("overwrite").parquet(str(draft))
    [file] = draft.glob("*.parquet")
    file.rename(prefix.chunks / f"{number:06}.parquet")


def remove_chunks(prefix: ArchivePrefix) -> None:
    """Remove the chunks after all are read; the folder stays, because Spark looks into it."""
    for file in prefix.chunks.glob("*"):
        file.unlink()


def prepend(
    spark: SparkSession, prefix: ArchivePrefix, topics: Iterable[Contract], log: DataFrame | None
) -> DataFrame:
    """The topics' records in the prefix, then those of the log: a stream with COLUMNS.

    None: the prefix is still being read, and an empty folder stands in for the log.
    """
    rest = stream_chunks(spark, prefix.empty) if log is None else log.select(*COLUMNS)
    of_topics = F.col("topic").isin([topic.name for topic in topics])
    return stream_chunks(spark, prefix.chunks).where(of_topics).unionByName(rest)


def stream_chunks(spark: SparkSession, folder: Path) -> DataFrame:
    """The records of a folder of chunks, with COLUMNS: one chunk per batch, in order."""
    # If tasks shared a file, a partition would be in several tasks.
    spark.conf.set("spark.sql.files.minPartitionNum", "1")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "8g")
    files = spark.readStream.schema(RECORD).option("maxFilesPerTrigger", "1")
    return files.parquet(str(folder))
