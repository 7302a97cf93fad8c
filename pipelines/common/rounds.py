"""What a generation reads of the archive before the log: cut into rounds, a file each.

Spark fixes a query's sources for ever. So a generation that begins in the archive has both from its
birth: files first, while nothing stands in the log's place, then the log from exactly the next
offset of each partition. A round has the same share of every partition, in its order.
"""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from infra.kafka import Partition
from infra.lake import spelled, understood
from infra.settings import Settings
from pipelines.common import archive
from pipelines.common.backlog import Backlog, world_time
from pipelines.common.checkpoint import ROUNDS, Checkpoint

HEAD = Path("archive") / "head.json"
"""In a generation's folder: where the log goes on, by partition. Without it, all is the log's."""


@dataclass(frozen=True)
class Head:
    """The part of the log that a generation reads from the archive: below these offsets."""

    folder: Path
    """The generation's."""
    ends: Mapping[Partition, int]

    @classmethod
    def of(cls, folder: Path) -> "Head | None":
        """None: the generation reads all of the log from the log."""
        file = folder / HEAD
        return cls(folder, understood(json.loads(file.read_text()))) if file.exists() else None

    def write(self) -> None:
        file = self.folder / HEAD
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(spelled(self.ends)))

    @property
    def rounds(self) -> Path:
        """A file for each round."""
        return self.folder / "archive" / "rounds"

    @property
    def nothing(self) -> Path:
        """An empty folder: what stands in the log's place until the archive is read."""
        return self.folder / "archive" / "nothing"

    def unread(self, checkpoint: Checkpoint) -> int:
        """Offsets of the head that no finished batch has read."""
        read = checkpoint.committed()
        return sum(max(0, end - read.get(at, 0)) for at, end in self.ends.items())

    def backlog(self, checkpoint: Checkpoint) -> Backlog:
        """What is left of the head, over the world time of all of it."""
        told = json.loads((self.folder / ROUNDS).read_text())
        span = world_time(told["newest_ms"]) - world_time(told["oldest_ms"])
        return Backlog(self.unread(checkpoint), span)


def ready(spark: SparkSession, where: Settings, head: Head, records_max: int) -> None:
    """Write the rounds, of so many offsets each at the most, unless all of them are there."""
    if (head.folder / ROUNDS).exists():
        return
    for folder in (head.rounds, head.nothing):
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt that was broken off
        folder.mkdir()
    count = max(1, -(-sum(head.ends.values()) // records_max))
    ends = [{at: end * n // count for at, end in head.ends.items()} for n in range(count + 1)]
    for number in range(count):
        cut(archive.records(spark, where, ends[number], ends[number + 1]), head, number)
    read = spark.read.parquet(str(head.rounds)).agg(
        F.min(F.unix_millis("timestamp")).alias("oldest_ms"),
        F.max(F.unix_millis("timestamp")).alias("newest_ms"),
    )
    [span] = read.collect()
    told = {"ends": [spelled(each) for each in ends[1:]], **span.asDict()}
    draft = head.rounds.with_name("draft.json")
    draft.write_text(json.dumps(told))
    draft.rename(head.folder / ROUNDS)


def cut(records: DataFrame, head: Head, number: int) -> None:
    """Write a round: Spark reads files in the order in which they were written."""
    draft = head.rounds.with_name("draft")
    whole = records.repartition(1).sortWithinPartitions("topic", "partition", "offset")
    whole.write.mode("overwrite").parquet(str(draft))
    [file] = draft.glob("*.parquet")
    file.rename(head.rounds / f"{number:06}.parquet")


def forget(head: Head) -> None:
    """Remove the rounds, all of which are read; the folder stays, as Spark looks into it."""
    for file in head.rounds.glob("*"):
        file.unlink()


def before(
    spark: SparkSession, head: Head, topics: Iterable[Contract], log: DataFrame | None
) -> DataFrame:
    """The topics' records in the head, then those of the log. None: while the head is read."""
    rest = stream(spark, head.nothing) if log is None else log.select(*archive.COLUMNS)
    of_topics = F.col("topic").isin([topic.name for topic in topics])
    return stream(spark, head.rounds).where(of_topics).unionByName(rest)


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    """The records of a folder of rounds, a round a batch, in order."""
    # A file that several tasks shared would have its partitions in several.
    spark.conf.set("spark.sql.files.minPartitionNum", "1")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "8g")
    files = spark.readStream.schema(archive.RECORD).option("maxFilesPerTrigger", "1")
    return files.parquet(str(folder))
