"""A training run of Spark's Java: `python -m pipelines.training [NAME …]`.

All pipelines at once catch up with the log and then run some live batches, so that Java loads,
links and profiles the classes that a shop needs. At its end, Java writes its ahead-of-time cache to
the path that `infra/aot.py` names.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings
from infra.wait import wait_for
from ops.generations.lifecycle import create_generation, make_outputs
from ops.generations.record import State, get_wall_now
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.pace import create_catching_up_pace, select_pace
from pipelines.engine.process import give_way
from pipelines.engine.query import Run, start
from pipelines.engine.session import get_engine, start_session

BATCHES = 12
"""Live batches of each pipeline: after some, Java knows which code to compile."""
BATCHES_SECONDS_MAX = 180.0
WRITE_SECONDS_MAX = 180.0
"""How long Java may take to write its cache."""
LONG = timedelta(days=365)
"""Longer than the age of the world."""
NO_CODE = "0" * 64
"""In place of a digest: these generations are not in the control topic."""


def main() -> None:
    set_up_logging("training")
    give_way()
    settings = read_settings()
    rooms = [load(name) for name in sys.argv[1:] or settings.pipeline_names]
    spark = start_session(settings, "training")
    java = get_engine(spark)
    try:
        works = [create_work(spark.newSession(), settings, room) for room in rooms]
        for query in [catch_up(work) for work in works]:
            query.awaitTermination()
        live = [go_live(work) for work in works]
        if not wait_for(partial(have_all_lived, live), BATCHES_SECONDS_MAX):
            raise UserError(
                f"Each pipeline should finish {BATCHES} batches in {BATCHES_SECONDS_MAX:g} s, "
                "but did not. Is the machine busy?"
            )
    finally:
        java.terminate()  # asked to end, it writes its cache first
        java.wait(WRITE_SECONDS_MAX)


def create_work(spark: SparkSession, settings: Settings, pipeline: Pipeline) -> Run:
    """A generation of the pipeline that never waits."""
    eager = replace(pipeline, every=timedelta(), duty_cycle=1.0)
    generation = create_generation(eager, NO_CODE, get_wall_now(), 1, State.CATCHING_UP)
    make_outputs(settings, eager, generation)
    return Run(spark, settings, eager, generation)


def catch_up(work: Run) -> StreamingQuery:
    """A query that reads the whole log.

    The world has just begun, so its whole age counts as memory.
    """
    limit = work.settings.pipeline_records_per_batch_max
    now = create_catching_up_pace(work.pipeline.reads, work.measure_unread(), limit)
    return start(work, replace(now, memory=LONG))


def go_live(work: Run) -> StreamingQuery:
    """A live query that goes on where the generation has caught up."""
    limit = work.settings.pipeline_records_per_batch_max
    return start(work, select_pace(work.pipeline.reads, work.measure_unread(), limit))


def have_all_lived(live: Sequence[StreamingQuery]) -> bool:
    """Whether each has finished its batches. Raises the exception of a failed one."""
    for query in live:
        if (failed := query.exception()) is not None:
            raise failed
    return all((query.lastProgress or {"batchId": 0})["batchId"] >= BATCHES for query in live)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
