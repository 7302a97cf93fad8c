"""A query has ended when none of its tasks runs, of which a stop takes no notice."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.wait import wait_until
from pipelines.common.runtime.ending import end, running_tasks

pytestmark = pytest.mark.spark

LONG = (
    "aggregate(sequence(1, 1500), 0L,"
    " (sum, i) -> sum + aggregate(sequence(1, 1500), 0L, (own, j) -> own + i * j * value))"
)
"""A sum that a task forms without asking whether it is to stop."""


def test_when_a_query_has_ended_no_task_of_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    query = (
        spark.readStream.format("rate")
        .option("rowsPerSecond", 100)
        .load()
        .selectExpr(LONG)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    wait_until(lambda: running_tasks(spark, query) > 0, "a task runs")
    end(spark, query)
    assert running_tasks(spark, query) == 0
