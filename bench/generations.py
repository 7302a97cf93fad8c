"""New generations of the pipelines, for a Spark of the bench's own."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

from bench import yardstick
from control.generations import Generation, State
from infra.settings import Settings
from pipelines.common.generations.clock import get_wall_now
from pipelines.common.generations.generation import create_generation, make_outputs
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.runtime.pace import MARGIN, Pace, find_horizon

NO_CODE = "0" * 64
"""In place of a code digest: the control topic knows none of these generations."""
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
