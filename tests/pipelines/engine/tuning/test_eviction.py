"""State is walked in one batch of many, and what is due is freed all the same."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from pipelines.engine.tuning.options import BATCHES_PER_WALK
from tests.pipelines.deduplication import deduplicate_ids, read_ids
from tests.pipelines.files import append

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

BATCHES = 9


@pytest.mark.parametrize("every", [1, 3])
def test_ids_are_freed_by_the_batches_that_walk(
    spark: SparkSession, tmp_path: Path, every: int
) -> None:
    """Each batch has one id, an hour after the one before; an id is remembered for a minute."""
    own = spark.newSession()
    own.conf.set(BATCHES_PER_WALK, str(every))
    own.conf.set("spark.sql.shuffle.partitions", "1")
    source = tmp_path / "ids"
    for number in range(BATCHES):
        append(own.range(1).select(F.lit(number).cast("long").alias("id")), source)
    query = start_deduplication(own, source, tmp_path)
    assert query.awaitTermination(60)
    removed = [
        sum(state.numRowsRemoved for state in batch.stateOperators)
        for batch in query.recentProgress
        if batch.numInputRows
    ]
    assert len(removed) == BATCHES
    walks = [number for number in range(BATCHES) if (number + 1) % every == 0]
    assert [number for number, ids in enumerate(removed) if ids] == [
        number for number in walks if number >= 2
    ], "a walk frees what is due, and a batch without one frees nothing"
    assert sum(removed) == walks[-1] - 1, (
        "what is not due stays: of the last batch and the one before"
    )


def test_whoever_walks_for_an_answer_is_shown_all(spark: SparkSession, tmp_path: Path) -> None:
    """An aggregate in append mode says each row once it is closed, by a walk of its state."""
    own = spark.newSession()
    own.conf.set(BATCHES_PER_WALK, str(10 * BATCHES))
    own.conf.set("spark.sql.shuffle.partitions", "1")
    source, said = tmp_path / "ids", Counter[int]()
    for number in range(BATCHES):
        append(own.range(1).select(F.lit(number).cast("long").alias("id")), source)

    def write(rows: DataFrame, batch: int) -> None:
        said[batch] = len(rows.collect())

    counted = (
        read_ids(own, source)
        .withColumn("at", F.timestamp_seconds((F.col("id") + 1) * 3600))
        .withWatermark("at", "1 minute")
        .groupBy(F.window("at", "1 minute"))
        .count()
    )
    query = (
        counted.writeStream.outputMode("append")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(write)
        .start()
    )
    assert query.awaitTermination(60)
    assert [said[batch] for batch in range(BATCHES)] == [0, 0, *[1] * (BATCHES - 2)]


def start_deduplication(own: SparkSession, source: Path, folder: Path) -> StreamingQuery:
    at = F.timestamp_seconds((F.col("id") + 1) * 3600)
    return deduplicate_ids(own, source, at, "1 minute", folder).format("noop").start()
