"""Shuffles that move nothing are left out of a batch's plan, and state is found all the same."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipelines.streams import append, run_to_end

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

Counts = dict[int, int]
IDS = 100


def test_a_checkpoint_goes_on_in_one_task_after_two(spark: SparkSession, tmp_path: Path) -> None:
    """Two tasks shuffle into one partition; one task finds their state there."""
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    append(own.range(IDS, numPartitions=3), tmp_path / "ids")
    counts: Counts = {}
    count_ids(own, tmp_path, 2, counts)
    append(own.range(2 * IDS, numPartitions=3), tmp_path / "ids")
    count_ids(own, tmp_path, 1, counts)
    assert counts == {0: 67, 1: 67, 2: 66}


def count_ids(own: SparkSession, folder: Path, tasks: int, counts: Counts) -> None:
    """How many ids of each kind there are, each counted once, into `counts`."""

    def note(rows: DataFrame, _batch: int) -> None:
        counts.update({row["kind"]: row["ids"] for row in rows.collect()})

    ids = own.readStream.schema("id LONG").parquet(str(folder / "ids")).coalesce(tasks)
    event_time = F.timestamp_seconds(F.lit(86_400)).alias(
        "event_time"
    )  # ahead of the watermark, which begins at 0
    first = (
        ids.select("id", event_time)
        .withWatermark("event_time", "1 hour")
        .dropDuplicatesWithinWatermark(["id"])
    )
    counted = first.groupBy((F.col("id") % 3).alias("kind")).agg(F.count("*").alias("ids"))
    run_to_end(counted.writeStream.outputMode("update").foreachBatch(note), folder)
