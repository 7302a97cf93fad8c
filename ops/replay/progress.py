"""The progress of a candidate, by its markers."""

from collections.abc import Callable
from dataclasses import dataclass

from infra.errors import UserError
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_for
from ops.generations.lifecycle import load_generations
from ops.generations.marker import read_marker
from ops.generations.record import Generation, State
from ops.replay.readers import READER
from pipelines.common.pipeline import Pipeline

LOOK_SECONDS = 0.5
WATCH_SECONDS_MAX = 24 * 3_600.0


@dataclass(frozen=True)
class Progress:
    """Records read and records in the log, in all topics that the pipeline reads."""

    read: int
    total: int

    @property
    def left(self) -> int:
        return max(0, self.total - self.read)


def measure_progress(settings: Settings, pipeline: Pipeline, generation: Generation) -> Progress:
    """The progress of the generation, by its newest marker."""
    ends = read_end_offsets(create_admin(settings), [topic.name for topic in pipeline.inputs])
    marker = read_marker(settings, generation.pipeline, generation.number, READER)
    inputs = marker.inputs if marker else {}
    read = sum(min(offset, ends.get(partition, 0)) for partition, offset in inputs.items())
    return Progress(read, sum(ends.values()))


def follow(
    settings: Settings,
    pipeline: Pipeline,
    candidate: Generation,
    report: Callable[[Progress], None],
) -> Progress:
    """Follow a candidate until it has caught up. Returns how far it has read then.

    It reports each look and has no effect on the candidate. Raises UserError if the
    candidate was pruned, is invalid, or has not caught up within WATCH_SECONDS_MAX.
    """
    number, progress = candidate.number, Progress(0, 0)

    def fail(why: str) -> UserError:
        return UserError(
            f"Generation {number} of {pipeline.name} should have caught up, but {why}. Its log: "
            f"make logs COMPONENT=pipelines · forget it: retail replay prune {pipeline.name}"
        )

    def has_caught_up() -> bool:
        nonlocal progress
        generation = load_generations(settings, pipeline.name).of(number)
        if generation is None:
            raise fail("it was pruned")
        if generation.state is State.INVALID:
            raise fail(f"it is invalid: {generation.reason}")
        progress = measure_progress(settings, pipeline, generation)
        report(progress)
        return generation.state is not State.CATCHING_UP

    if not wait_for(has_caught_up, WATCH_SECONDS_MAX, LOOK_SECONDS):
        raise fail(f"it has not within {WATCH_SECONDS_MAX / 3600:g} h")
    return progress
