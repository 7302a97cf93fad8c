"""What Spark says of a batch: records that it drops, and how large the state is."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.engine.running_batch import RunningBatch, StateSize
from tests.pipelines.streams import append, deduplicate_ids, read_files, run_to_end

pytestmark = pytest.mark.spark

IN_TIME = (3600, 7200, 10800, 14400)
LATE = 5400
"""Seconds of 1970: two hours behind what was read before it."""


def count_dropped(spark: SparkSession, folder: Path, times: tuple[int, ...]) -> list[int]:
    """By batch, as soon as it is written; it has one record, whose id is known for a minute."""
    source, name = folder / "ids", f"drops-{folder.name}"
    for seconds in times:
        append(spark.range(1).select(F.lit(seconds).cast("long").alias("id")), source)
    running, dropped = RunningBatch(spark, name), []

    def write(rows: DataFrame, _batch: int) -> None:
        rows.write.format("noop").mode("overwrite").save()
        dropped.append(running.count_dropped())

    writer = deduplicate_ids(spark, source, F.timestamp_seconds("id"), "1 minute")
    run_to_end(writer.queryName(name).foreachBatch(write), folder)
    return dropped


def test_batches_in_time_drop_nothing(spark: SparkSession, tmp_path: Path) -> None:
    assert not any(count_dropped(spark, tmp_path, IN_TIME))


@pytest.mark.parametrize("later", [(), (18000, 21600)])
def test_a_dropped_record_is_counted_in_its_batch(
    spark: SparkSession, tmp_path: Path, later: tuple[int, ...]
) -> None:
    dropped = count_dropped(spark, tmp_path, (*IN_TIME, LATE, *later))
    assert dropped[len(IN_TIME)] == 1
    assert sum(dropped) == 1


def test_the_state_is_measured_in_memory_and_on_disk(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "ids"
    append(spark.range(100), source)
    counted = read_files(spark, source).groupBy("id").agg(F.count("*"))
    query = run_to_end(counted.writeStream.format("noop").outputMode("update"), tmp_path)
    state = StateSize()
    assert state.size_bytes is None
    state.measure(query)
    last = query.lastProgress
    assert last is not None
    [operator] = last.stateOperators
    on_disk = operator.customMetrics["rocksdbSstFileSize"]
    expected = operator.memoryUsedBytes + on_disk
    assert expected > 0
    assert state.size_bytes == expected
