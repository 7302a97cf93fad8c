"""The archive prefix: the part that a generation reads from the archive, in chunks.

Spark fixes a query's sources when it is created. So a generation that begins in the archive has
both sources from the start: first the chunks, a file each, while an empty folder stands in for the
log; then the log, from exactly the next offset of each partition. A chunk has the same share of
every partition, in the partition's order.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from infra.kafka import Offsets
from infra.lake import flatten_topics, group_by_topic
from infra.settings import Settings
from pipelines.engine import archive
from pipelines.engine.backlog import Backlog
from pipelines.engine.checkpoint import CHUNKS, Checkpoint

PREFIX = Path("archive") / "prefix.json"
"""A file in a generation's folder: where the log continues, by partition. Without it, the
generation reads only the log."""


@dataclass(frozen=True)
class ArchivePrefix:
    """The part of the log that a generation reads from the archive: below these offsets."""

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
        return sum(max(0, end - read.get(at, 0)) for at, end in self.ends.items())

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
    ends = [{at: end * n // count for at, end in prefix.ends.items()} for n in range(count + 1)]
    for number in range(count):
        records = archive.read_records(spark, settings, ends[number], ends[number + 1])
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
    """The topics' records in the prefix, then those of the log: a stream with archive.COLUMNS.

    None: the prefix is still being read, and an empty folder stands in for the log.
    """
    rest = stream_chunks(spark, prefix.empty) if log is None else log.select(*archive.COLUMNS)
    of_topics = F.col("topic").isin([topic.name for topic in topics])
    return stream_chunks(spark, prefix.chunks).where(of_topics).unionByName(rest)


def stream_chunks(spark: SparkSession, folder: Path) -> DataFrame:
    """The records of a folder of chunks, with archive.COLUMNS: one chunk per batch, in order."""
    # If tasks shared a file, a partition would be in several tasks.
    spark.conf.set("spark.sql.files.minPartitionNum", "1")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "8g")
    files = spark.readStream.schema(archive.RECORD).option("maxFilesPerTrigger", "1")
    return files.parquet(str(folder))
