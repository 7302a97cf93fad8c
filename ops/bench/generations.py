"""New generations of the pipelines, for a Spark of the bench's own."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

from pyspark.sql.streaming.query import StreamingQuery

from infra.settings import Settings
from ops.bench import yardstick
from ops.generations.lifecycle import create_generation, make_outputs
from ops.generations.record import Generation, State, get_wall_now
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.pace import MARGIN, Pace, create_catching_up_pace, find_horizon
from pipelines.engine.query import Run, start

NO_CODE = "0" * 64
"""In place of a code digest: the control topic knows none of these generations."""
CATCH_UP_SECONDS_MAX = 600
NUMBERS = count(1_001)
"""A shop that lives on the same log has number 1."""


def create(settings: Settings, pipeline: Pipeline) -> Generation:
    """A generation that has read nothing yet, with its topics."""
    generation = create_generation(
        pipeline, NO_CODE, get_wall_now(), next(NUMBERS), State.CATCHING_UP
    )
    make_outputs(settings, pipeline, generation)
    return generation


def load_with_yardstick_pace(name: str) -> Pipeline:
    """The pipeline, with live batches as often as the yardstick's."""
    every = timedelta(seconds=yardstick.SECONDS_PER_BATCH)
    return replace(load(name), every=every, duty_cycle=1.0)


def create_live_pace(pipeline: Pipeline) -> Pace:
    """The pace of a generation that is live, whatever there is to read."""
    return Pace(True, find_horizon(pipeline.reads) + MARGIN, None)


def catch_up(work: Run) -> StreamingQuery:
    """The ended query that has read all there is, with one partition of state.

    Raises TimeoutError where that takes longer than CATCH_UP_SECONDS_MAX.
    """
    limit = work.settings.pipeline_records_per_batch_max
    fast = create_catching_up_pace(work.pipeline.reads, work.measure_unread(), limit)
    query = start(work, replace(fast, state_partitions=1))
    if not query.awaitTermination(CATCH_UP_SECONDS_MAX):
        raise TimeoutError(f"{work.pipeline.name} should catch up within {CATCH_UP_SECONDS_MAX} s")
    return query
