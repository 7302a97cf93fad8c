"""Generations: one run of one pipeline's code from offset zero, as the control topic knows them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from contracts import BOOKS, GENERATIONS, Contract, decode, encode, key
from infra.kafka import apply_topics, producer, read_to_end, send
from infra.settings import Settings
from pipelines.common.pipeline import Pipeline


class State(StrEnum):
    CATCHING_UP = "catching-up"
    READY = "ready"
    PROMOTED = "promoted"
    RETIRED = "retired"
    INVALID = "invalid"


@dataclass(frozen=True)
class Generation:
    """A numbered run of pinned code, with its own checkpoint and its own output topics."""

    pipeline: str
    number: int
    state: State
    code_digest: str
    created_at: datetime
    outputs: Mapping[str, str]
    """View name → the topic this generation writes it to."""
    reason: str | None = None
    """Why it is invalid."""

    def folder(self, settings: Settings) -> Path:
        """Where its code, checkpoint and lease live."""
        return settings.data_dir / "pipelines" / self.pipeline / f"g{self.number}"

    def checkpoint(self, settings: Settings) -> Path:
        return self.folder(settings) / "checkpoint"

    def code(self, settings: Settings) -> Path:
        return self.folder(settings) / "code"


def first(pipeline: Pipeline, code_digest: str, created_at: datetime) -> Generation:
    """Generation 1: there is nothing to compare it with, so it is promoted from the start."""
    number = 1
    return Generation(
        pipeline=pipeline.name,
        number=number,
        state=State.PROMOTED,
        code_digest=code_digest,
        created_at=created_at,
        outputs={
            BOOKS.name: BOOKS.name,
            pipeline.writes.name: f"{pipeline.writes.name}.g{number}",
        },
    )


def make_outputs(settings: Settings, pipeline: Pipeline, generation: Generation) -> None:
    """Make the topics that the generation writes to, where they are missing."""
    by_name: dict[str, Contract] = {pipeline.writes.name: pipeline.writes, BOOKS.name: BOOKS}
    apply_topics(settings, {generation.outputs[name]: by_name[name] for name in by_name})


def generations(settings: Settings, pipeline: str) -> tuple[Generation, ...]:
    """Every generation of the pipeline that the control topic knows, oldest first."""
    records = read_to_end(settings, GENERATIONS.name)
    found = records.get(key(GENERATIONS, {"pipeline": pipeline}))
    if found is None:
        return ()
    control = decode(found).value
    return tuple(
        Generation(
            pipeline=pipeline,
            number=known["number"],
            state=State(known["state"]),
            code_digest=known["code_digest"],
            created_at=known["created_at"],
            outputs={output["view"]: output["topic"] for output in known["outputs"]},
            reason=known["reason"],
        )
        for known in control["generations"]
    )


def publish(settings: Settings, known: tuple[Generation, ...]) -> None:
    """Tell every reader which generations there are, in one record."""
    promoted = [one.number for one in known if one.state is State.PROMOTED]
    control = {
        "pipeline": known[0].pipeline,
        "promoted": promoted[0] if promoted else None,
        "generations": [
            {
                "number": one.number,
                "state": one.state.value,
                "reason": one.reason,
                "code_digest": one.code_digest,
                "created_at": one.created_at,
                "outputs": [{"view": view, "topic": topic} for view, topic in one.outputs.items()],
            }
            for one in known
        ],
    }
    record = key(GENERATIONS, control), encode(GENERATIONS, control)
    send(producer(settings), GENERATIONS.name, *record)


def invalidate(settings: Settings, generation: Generation, reason: str) -> None:
    """Say that the generation's answer can no longer be trusted."""
    publish(
        settings,
        tuple(
            replace(one, state=State.INVALID, reason=reason)
            if one.number == generation.number
            else one
            for one in generations(settings, generation.pipeline)
        ),
    )
