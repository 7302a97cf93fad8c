"""A large live batch has generated code, a small one is interpreted, and both say the same."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.engine.session import prepare_session
from pipelines.engine.sink import (
    EXPRESSIONS,
    GENERATED,
    GENERATED_RECORDS_MIN,
    INTERPRETED,
    WHOLE_RECORDS_MIN,
    WHOLE_STAGES,
    suit_plan,
)
from tests.pipelines.streams import append, read_files, run_to_end

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

IDS, BATCHES, LARGE = 100, 4, 2
ADDED = 1_357_911
"""A number of this test's own: Spark compiles the same code only once in a Java."""


@pytest.mark.parametrize(
    ("records", "way", "whole"),
    [
        (0, INTERPRETED, "false"),
        (GENERATED_RECORDS_MIN - 1, INTERPRETED, "false"),
        (GENERATED_RECORDS_MIN, GENERATED, "false"),
        (GENERATED_RECORDS_MIN + 1, GENERATED, "false"),
        (WHOLE_RECORDS_MIN - 1, GENERATED, "false"),
        (WHOLE_RECORDS_MIN, GENERATED, "true"),
        (100 * WHOLE_RECORDS_MIN, GENERATED, "true"),
    ],
)
def test_a_batch_of_so_many_records_has_generated_code(
    spark: SparkSession, records: int, way: str, whole: str
) -> None:
    own, found = spark.newSession(), []

    def write(batch: DataFrame, _: int) -> None:
        found.append([batch.sparkSession.conf.get(name) for name in (EXPRESSIONS, WHOLE_STAGES)])

    suit_plan(write, lambda _: records)(own.range(1), 7)
    assert found == [[way, whole]]


def test_the_batches_of_a_query_are_interpreted_or_generated_as_suits_each(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Four batches of one query, of which only the third one is large. What its first one needs may
    be the first of its kind in this Java.
    """
    own = spark.newSession()
    prepare_session(own, live=True, partitions=1)
    for batch in range(BATCHES):
        append(own.range(IDS * batch, IDS * (batch + 1), numPartitions=1), tmp_path / "ids")
    sums: dict[int, int] = {}
    compiled: list[bool] = []

    def note(rows: DataFrame, _batch: int) -> None:
        before = count_compiled(spark)
        sums.update({row["kind"]: row["sum"] for row in rows.collect()})
        compiled.append(count_compiled(spark) > before)

    added = (F.col("id") + F.lit(ADDED)).alias("added")
    summed = (
        read_files(own, tmp_path / "ids")
        .coalesce(1)
        .groupBy((F.col("id") % 3).alias("kind"))
        .agg(F.sum(added).alias("sum"))
    )
    write = suit_plan(note, lambda batch: GENERATED_RECORDS_MIN if batch == LARGE else 1)
    run_to_end(summed.writeStream.outputMode("update").foreachBatch(write), tmp_path)
    assert compiled[1:] == [False, True, False]
    assert sums == {
        kind: sum(number + ADDED for number in range(BATCHES * IDS) if number % 3 == kind)
        for kind in range(3)
    }


def test_the_batches_after_large_ones_have_their_stages_in_one_piece(
    spark: SparkSession, tmp_path: Path
) -> None:
    """In one query, which nobody ends."""
    own = spark.newSession()
    prepare_session(own, live=True, partitions=1)
    numbers = [1, WHOLE_RECORDS_MIN, WHOLE_RECORDS_MIN, 1, 1]
    for _ in numbers:
        append(own.range(IDS), tmp_path / "ids")
    sums: list[int] = []
    whole: list[bool] = []

    def note(rows: DataFrame, _batch: int) -> None:
        [query] = own.streams.active
        executed: Any = query._jsq.streamingQuery()
        # Spark shows such a stage by a star and its number.
        whole.append("*(1)" in executed.lastExecution().executedPlan().treeString())
        sums.extend(row["sum"] for row in rows.collect())

    summed = read_files(own, tmp_path / "ids").agg(F.sum("id").alias("sum"))
    write = suit_plan(note, lambda batch: numbers[batch])
    run_to_end(summed.writeStream.outputMode("update").foreachBatch(write), tmp_path)
    assert whole == [False, False, True, True, False]
    assert sums == [batch * sum(range(IDS)) for batch in range(1, len(numbers) + 1)]


def count_compiled(spark: SparkSession) -> int:
    """How many classes Spark has generated and compiled in this Java."""
    java: Any = spark._jvm
    metrics = java.org.apache.spark.metrics.source.CodegenMetrics
    return int(metrics.METRIC_COMPILATION_TIME().getCount())
