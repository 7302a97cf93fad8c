"""What a batch's plan goes through: shuffles that move nothing are left out."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.pipelines.files import append

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

Counts = dict[int, int]
SHUFFLE = "Exchange hashpartitioning"
MERGE = "functions=[merge_count"
IDS = 100


@pytest.mark.parametrize(
    ("tasks", "partitions", "shuffles", "merges"),
    [(1, 1, 0, 1), (1, 2, 2, 2), (2, 1, 2, 2), (2, 2, 2, 2)],
)
def test_one_task_and_one_partition_need_no_shuffle_and_no_merging_of_tasks(
    spark: SparkSession, tmp_path: Path, tasks: int, partitions: int, shuffles: int, merges: int
) -> None:
    """Two states, as pipelines have them; every id comes twice."""
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", str(partitions))
    for _ in range(2):
        append(own.range(IDS, numPartitions=3), tmp_path / "ids")
    counts: Counts = {}
    query = start_counting(own, tmp_path, tasks, counts)
    assert query.awaitTermination(60)
    plan = query._jsq.explainInternal(False)
    assert (plan.count(SHUFFLE), plan.count(MERGE)) == (shuffles, merges)
    assert plan.count("TaskOptions") == 1 + shuffles
    assert counts == {0: 34, 1: 33, 2: 33}


def test_a_checkpoint_goes_on_in_one_task_after_two(spark: SparkSession, tmp_path: Path) -> None:
    """Two tasks shuffle into one partition; one task finds their state there."""
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    append(own.range(IDS, numPartitions=3), tmp_path / "ids")
    counts: Counts = {}
    assert start_counting(own, tmp_path, 2, counts).awaitTermination(60)
    append(own.range(2 * IDS, numPartitions=3), tmp_path / "ids")
    assert start_counting(own, tmp_path, 1, counts).awaitTermination(60)
    assert counts == {0: 67, 1: 67, 2: 66}


def start_counting(own: SparkSession, folder: Path, tasks: int, counts: Counts) -> StreamingQuery:
    """How many ids of each kind there are, each counted once, into `found`."""

    def note(rows: DataFrame, _batch: int) -> None:
        counts.update({row["kind"]: row["ids"] for row in rows.collect()})

    ids = own.readStream.schema("id LONG").parquet(str(folder / "ids")).coalesce(tasks)
    return (
        count_once(ids)
        .writeStream.outputMode("update")
        .foreachBatch(note)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def count_once(ids: DataFrame) -> DataFrame:
    at = F.timestamp_seconds(F.lit(86_400)).alias("at")  # ahead of the watermark, which begins at 0
    first = ids.select("id", at).withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["id"])
    return first.groupBy((F.col("id") % 3).alias("kind")).agg(F.count("*").alias("ids"))
