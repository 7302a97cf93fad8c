"""A query has ended when none of its tasks runs, of which a stop takes no notice."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

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
        .trigger(
            processingTime="1000 days"
        )  # the next one begins at a multiple of it, not after it
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


class Tracker:
    """Spark's status of a query that has had many jobs, of one stage and one running task each."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self.asked: list[int] = []

    def getJobIdsForGroup(self, group: str) -> Sequence[int]:  # noqa: N802
        return list(reversed(range(self._jobs)))

    def getJobInfo(self, job: int) -> Any:  # noqa: N802
        self.asked.append(job)
        return SimpleNamespace(stageIds=[job])

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        return SimpleNamespace(numActiveTasks=1)


@pytest.mark.parametrize("jobs", [JOBS_MAX - 1, JOBS_MAX, JOBS_MAX + 1, 10 * JOBS_MAX])
def test_of_many_jobs_the_last_ones_are_checked(jobs: int) -> None:
    tracker = Tracker(jobs)
    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    query = SimpleNamespace(runId="run")
    found = count_running_tasks(cast("SparkSession", spark), cast("StreamingQuery", query))
    assert tracker.asked == list(range(jobs))[-JOBS_MAX:]
    assert found == len(tracker.asked) == min(jobs, JOBS_MAX)
