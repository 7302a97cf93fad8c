"""Stopping a query, between two batches if it can be.

Spark logs each thing that a stop interrupts, with many lines. A task that it has cancelled may
still write for a moment.
"""

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.errors import UserError
from infra.wait import wait_for

BATCH_SECONDS_MAX = 5.0
"""The time that an open batch is given to finish: more than a live one takes."""

TASK_SECONDS_MAX = 60.0
"""The time within which a cancelled task has to end."""

JOBS_MAX = 20
"""The number of last jobs of the query that are checked; the cancelled ones are among them."""


def end_query(spark: SparkSession, query: StreamingQuery) -> None:
    """Stop the query, and return when none of its tasks runs; raises UserError if one goes on."""
    wait_for(lambda: not query.status["isTriggerActive"], BATCH_SECONDS_MAX)
    query.stop()
    if not wait_for(lambda: not count_running_tasks(spark, query), TASK_SECONDS_MAX):
        raise UserError(
            f"The tasks of {query.name} should have ended within {TASK_SECONDS_MAX:g} s of its "
            "stop, and have not: the process has to end"
        )


def count_running_tasks(spark: SparkSession, query: StreamingQuery) -> int:
    """The number of running tasks of the query; its run id names its job group."""
    tracker = spark.sparkContext.statusTracker()
    jobs = sorted(tracker.getJobIdsForGroup(query.runId))[-JOBS_MAX:]
    infos = [info for job in jobs if (info := tracker.getJobInfo(job))]
    stages = [tracker.getStageInfo(stage) for info in infos for stage in info.stageIds]
    return sum(stage.numActiveTasks for stage in stages if stage)
