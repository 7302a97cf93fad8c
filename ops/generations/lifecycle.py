"""Changes of a pipeline's generations: each is one record of the control topic."""

from collections.abc import Callable
from datetime import datetime

from contracts import BOOKS, GENERATIONS, encode, encode_key
from infra.kafka import apply_topics, create_producer, send
from infra.lock import LockHeld, lock_folder
from infra.settings import Settings
from ops.generations.folders import locate_home
from ops.generations.record import Generation, Generations, State, read_generations
from pipelines.common.pipeline import Pipeline

CHANGE_SECONDS_MAX = 30.0


Change = Callable[[Generations], Generations]


def create_generation(
    pipeline: Pipeline,
    code_digest: str,
    created_at: datetime,
    number: int,
    state: State,
    libraries: str | None = None,
) -> Generation:
    """A generation with output topics of its own. All share one topic of record accounting."""
    return Generation(
        pipeline=pipeline.name,
        number=number,
        state=state,
        code_digest=code_digest,
        created_at=created_at,
        libraries=libraries,
        outputs={
            BOOKS.name: BOOKS.name,
            **{view.name: f"{view.name}.g{number}" for view in pipeline.writes},
        },
    )


def make_outputs(settings: Settings, pipeline: Pipeline, generation: Generation) -> None:
    """Make the topics that the generation writes to, where they are missing."""
    written = (*pipeline.writes, BOOKS)
    apply_topics(settings, {generation.outputs[view.name]: view for view in written})


def load_generations(settings: Settings, pipeline: str) -> Generations:
    """The pipeline's generations, from the control topic."""
    return read_generations(settings).get(pipeline, Generations(pipeline))


def change(settings: Settings, pipeline: str, changed: Change) -> Generations:
    """Apply the function to the generations, and publish the result in one record.

    Processes change them one after the other. If the function raises, nothing changes. Raises
    LockHeld.
    """
    folder = locate_home(settings, pipeline)
    advice = f"It has done so for {CHANGE_SECONDS_MAX:g} s. See which: make status"
    held = LockHeld("process", f"change the generations of {pipeline}", advice)
    with lock_folder(folder, held, CHANGE_SECONDS_MAX):
        before = load_generations(settings, pipeline)
        after = changed(before)
        if after != before:
            control = after.to_row()
            record = encode_key(GENERATIONS, control), encode(GENERATIONS, control)
            send(create_producer(settings), GENERATIONS.name, *record)
    return after


def invalidate(settings: Settings, generation: Generation, reason: str) -> None:
    """Mark the generation as invalid: its answer can no longer be trusted."""
    number = generation.number
    change(settings, generation.pipeline, lambda known: known.to(State.INVALID, number, reason))
