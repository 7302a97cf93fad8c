"""State says the same with its tuning: walked seldom, with a filter of ids, without shuffles."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.engine.tuning.options import BATCHES_PER_WALK, KNOWS_KEYS
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


IDS, AGAIN = 400, 7
"""How many ids a batch has; every so manieth was in a batch before."""
COPIED_BATCHES = 4


@pytest.mark.parametrize(
    "restarted", [False, True], ids=["in one run", "restarted between batches"]
)
@pytest.mark.parametrize("knows", ["true", "false"])
def test_each_id_counts_once_in_whichever_batch_its_copies_come(
    spark: SparkSession, tmp_path: Path, knows: str, restarted: bool
) -> None:
    own = spark.newSession()
    own.conf.set(KNOWS_KEYS, knows)
    own.conf.set("spark.sql.shuffle.partitions", "2")
    source, target = tmp_path / "ids", tmp_path / "first copies"
    for number in range(COPIED_BATCHES):
        append(create_batch(own, number), source)
        if restarted:
            run(own, source, target, tmp_path)
    run(own, source, target, tmp_path)
    kept = [row.id for row in own.read.parquet(str(target)).select("id").collect()]
    assert len(kept) == len(set(kept)), "no id counts twice"
    assert set(kept) == {row.id for row in own.read.parquet(str(source)).collect()}


def create_batch(own: SparkSession, number: int) -> DataFrame:
    """New ids, each twice, and ids of each batch before."""
    new = own.range(number * IDS, (number + 1) * IDS)
    old = own.range(0, number * IDS + 1, AGAIN)
    return new.union(new).union(old).coalesce(1)


def run(own: SparkSession, source: Path, target: Path, folder: Path) -> None:
    writer = deduplicate_ids(own, source, F.timestamp_seconds(F.lit(3600)), "1 hour")
    run_to_end(writer.format("parquet").option("path", str(target)), folder)


def test_a_checkpoint_goes_on_in_one_task_after_two(spark: SparkSession, tmp_path: Path) -> None:
    """Shuffles that move nothing are left out. Two tasks shuffle into one partition; one task finds
    their state there.
    """
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    append(own.range(100, numPartitions=3), tmp_path / "ids")
    counts = count_ids(own, tmp_path, tasks=2)
    append(own.range(200, numPartitions=3), tmp_path / "ids")
    counts |= count_ids(own, tmp_path, tasks=1)
    assert counts == {0: 67, 1: 67, 2: 66}


def count_ids(own: SparkSession, folder: Path, tasks: int) -> dict[int, int]:
    """How many ids of each kind there are, each counted once, where a query has changed it."""
    counts: dict[int, int] = {}

    def note(rows: DataFrame, _batch: int) -> None:
        counts.update({row["kind"]: row["ids"] for row in rows.collect()})

    ids = own.readStream.schema("id LONG").parquet(str(folder / "ids")).coalesce(tasks)
    # Ahead of the watermark, which begins at 0.
    happened = ids.withColumn("event_time", F.timestamp_seconds(F.lit(86_400)))
    first = happened.withWatermark("event_time", "1 hour").dropDuplicatesWithinWatermark(["id"])
    counted = first.groupBy((F.col("id") % 3).alias("kind")).agg(F.count("*").alias("ids"))
    run_to_end(counted.writeStream.outputMode("update").foreachBatch(note), folder)
    return counts
