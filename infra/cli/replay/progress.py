"""How far a candidate has come, from its markers."""

import time
from dataclasses import dataclass

from contracts import MARKERS, key
from contracts.consumer import reader
from infra.cli import screen
from infra.errors import Trouble
from infra.kafka import Partition, admin, end_offsets, read_to_end
from infra.settings import Settings
from infra.wait import until
from pipelines.common.generation import Generation, State, generations
from pipelines.common.pipeline import Pipeline

LOOK_SECONDS = 0.5
WATCH_SECONDS_MAX = 24 * 3_600.0

decode = reader("command-line")


class Failed(Trouble):
    """The candidate came to nothing."""

    def __init__(self, pipeline: str, number: int, why: str) -> None:
        super().__init__(
            f"Generation {number} of {pipeline} should have caught up, but {why}. "
            f"Its log: make logs COMPONENT=pipelines · forget it: retail replay prune {pipeline}"
        )


@dataclass(frozen=True)
class Progress:
    """Records read of records there are, in all topics that the pipeline reads."""

    read: int
    total: int

    @property
    def left(self) -> int:
        return max(0, self.total - self.read)


def progress(settings: Settings, pipeline: Pipeline, generation: Generation) -> Progress:
    """How far the generation is, by its newest marker."""
    ends = end_offsets(admin(settings), [topic.name for topic in pipeline.inputs])
    inputs = marked(settings, generation)
    read = sum(min(offset, ends.get(at, 0)) for at, offset in inputs.items())
    return Progress(read, sum(ends.values()))


def marked(settings: Settings, generation: Generation) -> dict[Partition, int]:
    """The offsets of the generation's newest marker; empty before the first."""
    identity = {"pipeline": generation.pipeline, "generation": generation.number}
    found = read_to_end(settings, MARKERS.name).get(key(MARKERS, identity))
    inputs = decode(found).value["inputs"] if found else ()
    return {(at["topic"], at["partition"]): at["offset"] for at in inputs}


def follow(settings: Settings, pipeline: Pipeline, number: int) -> Progress:
    """Show how the candidate catches up; returns when it has. Raises Failed.

    Whoever looks away loses nothing: the candidate goes on.
    """
    began = time.monotonic()
    last = Progress(0, 0)

    with screen.waiting("reading", "starting Spark") as wait:

        def caught_up() -> bool:
            nonlocal last
            generation = generations(settings, pipeline.name).of(number)
            if generation is None:
                raise Failed(pipeline.name, number, "it was pruned")
            if generation.state is State.INVALID:
                raise Failed(pipeline.name, number, f"it is invalid: {generation.reason}")
            last = progress(settings, pipeline, generation)
            wait.show("reading", told(last, time.monotonic() - began))
            return generation.state is not State.CATCHING_UP

        if not until(caught_up, WATCH_SECONDS_MAX, LOOK_SECONDS):
            raise Failed(pipeline.name, number, f"it has not within {WATCH_SECONDS_MAX / 3600:g} h")
    seconds = time.monotonic() - began
    rate = f"{last.read / seconds:,.0f} records/s from its start"
    screen.step("reading", f"{screen.bar(1, 1)} {last.read:,} records, {rate}, caught up", seconds)
    return last


def told(now: Progress, seconds: float) -> str:
    if not now.read:
        return f"{screen.bar(0, 1)} 0 of {now.total:,}, starting Spark"
    rate = now.read / seconds
    return (
        f"{screen.bar(now.read, now.total)} {now.read:,} of {now.total:,} · {rate:,.0f} records/s"
        f" · about {now.left / rate:,.0f} s left"
    )
