"""A query has ended when none of its tasks runs, of which a stop takes no notice."""

from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame, SparkSession

from infra.folder import Folder
from infra.wait import wait_until
from pipelines.engine import ending
from pipelines.engine.checkpoint import Checkpoint
from pipelines.engine.ending import JOBS_MAX, count_running_tasks, end_query

LONG = (
    "aggregate(sequence(1, 1500), 0L,"
    " (sum, i) -> sum + aggregate(sequence(1, 1500), 0L, (own, j) -> own + i * j * value))"
)
"""A sum that a task forms without asking whether it is to stop."""


@pytest.mark.spark
def test_an_open_batch_is_finished_first(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "BATCH_SECONDS_MAX", 60.0)
    checkpoint = Checkpoint(Folder(str(tmp_path / "checkpoint")), tmp_path)
    open_batches: list[int] = []

    def write(rows: DataFrame, batch: int) -> None:
        open_batches.append(checkpoint.find_open_batch())
        long = rows.sparkSession.range(1).toDF("value").selectExpr(LONG)
        long.write.format("noop").mode("overwrite").save()

    query = (
        spark.readStream.format("rate")
        .load()
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        # The next one begins at a multiple of it, not after it.
        .trigger(processingTime="1000 days")
        .start()
    )
    wait_until(lambda: bool(open_batches), "a batch is open")
    end_query(spark, query)
    assert open_batches == [0]
    assert checkpoint.find_newest_finished() == 0
    assert query.exception() is None


@pytest.mark.thorough
@pytest.mark.spark
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
    wait_until(lambda: count_running_tasks(spark, query) > 0, "a task runs")
    end_query(spark, query)
    assert count_running_tasks(spark, query) == 0


@pytest.mark.parametrize("jobs", [JOBS_MAX - 1, JOBS_MAX, JOBS_MAX + 1, 10 * JOBS_MAX])
def test_of_many_jobs_the_last_ones_are_checked(jobs: int) -> None:
    """The query has had many jobs, of one stage and one running task each."""
    spark, query = Mock(), Mock()
    tracker = spark.sparkContext.statusTracker()
    tracker.getJobIdsForGroup.return_value = list(reversed(range(jobs)))
    tracker.getJobInfo.side_effect = lambda job: Mock(stageIds=[job])
    tracker.getStageInfo.return_value = Mock(numActiveTasks=1)
    found = count_running_tasks(spark, query)
    asked = [asked.args[0] for asked in tracker.getJobInfo.call_args_list]
    assert asked == list(range(jobs))[-JOBS_MAX:]
    assert found == len(asked) == min(jobs, JOBS_MAX)
