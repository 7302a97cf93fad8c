"""State is walked in one batch of many, and what is due is freed all the same."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.engine.tuning.options import BATCHES_PER_WALK
from tests.pipelines.streams import append, deduplicate_ids, read_files, run_to_end

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

BATCHES = 9


@pytest.mark.parametrize("every", [1, 3])
def test_ids_are_freed_by_the_batches_that_walk(
    spark: SparkSession, tmp_path: Path, every: int
) -> None:
    """Each batch has one id, an hour after the one before; an id is remembered for a minute."""
    own, source = begin(spark, every, tmp_path)
    writer = deduplicate_ids(own, source, happen(), "1 minute").format("noop")
    query = run_to_end(writer, tmp_path)
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
    own, source = begin(spark, 10 * BATCHES, tmp_path)
    said = Counter[int]()

    def write(rows: DataFrame, batch: int) -> None:
        said[batch] = len(rows.collect())

    counted = (
        read_files(own, source)
        .withColumn("event_time", happen())
        .withWatermark("event_time", "1 minute")
        .groupBy(F.window("event_time", "1 minute"))
        .count()
    )
    run_to_end(counted.writeStream.outputMode("append").foreachBatch(write), tmp_path)
    assert [said[batch] for batch in range(BATCHES)] == [0, 0, *[1] * (BATCHES - 2)]


def happen() -> Column:
    """When an id happens: an hour after the one before."""
    return F.timestamp_seconds((F.col("id") + 1) * 3600)


def begin(spark: SparkSession, every: int, folder: Path) -> tuple[SparkSession, Path]:
    """A session that walks its state each so many batches, and files of an id each."""
    own, source = spark.newSession(), folder / "ids"
    own.conf.set(BATCHES_PER_WALK, str(every))
    own.conf.set("spark.sql.shuffle.partitions", "1")
    for number in range(BATCHES):
        append(own.range(1).select(F.lit(number).cast("long").alias("id")), source)
    return own, source
