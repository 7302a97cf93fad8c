"""Generations: one run of one pipeline's code from offset zero, as the control topic knows them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from contracts import BOOKS, GENERATIONS, decode, encode, key
from infra.errors import UserError
from infra.folder import Folder
from infra.kafka import apply_topics, producer, read_to_end, send
from infra.lock import lock_folder
from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.common.runtime.checkpoint import Checkpoint

CHANGE_SECONDS_MAX = 30.0


class BeingChanged(UserError):
    """Another process is changing the generations."""

    def __init__(self, pipeline: str) -> None:
        super().__init__(
            f"The generations of {pipeline} should be changed by one process at a time, but "
            f"another one has been at it for {CHANGE_SECONDS_MAX:g} s. See which: make status"
        )


class State(StrEnum):
    CATCHING_UP = "catching-up"
    READY = "ready"
    PROMOTED = "promoted"
    RETIRED = "retired"
    INVALID = "invalid"


CANDIDATE = frozenset({State.CATCHING_UP, State.READY})
"""The states of a generation that may be promoted, now or once it has caught up."""


def home(settings: Settings, pipeline: str) -> Path:
    """Where the pipeline's generations live."""
    return settings.data_dir / "pipelines" / pipeline


def checkpoints(settings: Settings, pipeline: str) -> Folder:
    """Where its generations' checkpoints live: at home, unless a URL says where."""
    return Folder.of(settings.checkpoint_url or home(settings, pipeline).parent.as_uri()) / pipeline


def checkpoint(settings: Settings, pipeline: str, number: int) -> Checkpoint:
    generation = f"g{number}"
    folder = checkpoints(settings, pipeline) / generation / "checkpoint"
    return Checkpoint(folder, home(settings, pipeline) / generation)


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
    libraries: str | None = None
    """A digest of the packages and jars that it was created with; None: it was not recorded."""

    def folder(self, settings: Settings) -> Path:
        """Where its code and lease live."""
        return home(settings, self.pipeline) / f"g{self.number}"

    def checkpoint(self, settings: Settings) -> Checkpoint:
        return checkpoint(settings, self.pipeline, self.number)

    def code(self, settings: Settings) -> Path:
        return self.folder(settings) / "code"


@dataclass(frozen=True)
class Generations:
    """The generations of one pipeline: one record of the control topic holds all of them."""

    pipeline: str
    known: tuple[Generation, ...] = ()
    """Oldest first; those that were pruned are gone."""
    newest: int = 0
    """The highest number ever given."""

    @property
    def promoted(self) -> Generation | None:
        """The one that readers follow."""
        return self._last(frozenset({State.PROMOTED}))

    @property
    def candidate(self) -> Generation | None:
        """The one that is being replayed, or waits for its promotion."""
        return self._last(CANDIDATE)

    @property
    def retired(self) -> Generation | None:
        """The one that a rollback leads to."""
        return self._last(frozenset({State.RETIRED}))

    @property
    def running(self) -> tuple[Generation, ...]:
        """Those that are kept up to date."""
        wanted = (self.promoted, self.candidate, self.retired)
        return tuple(one for one in self.known if one in wanted)

    def of(self, number: int) -> Generation | None:
        return next((one for one in self.known if one.number == number), None)

    def plus(self, generation: Generation) -> "Generations":
        return replace(
            self, known=(*self.known, generation), newest=max(self.newest, generation.number)
        )

    def minus(self, numbers: frozenset[int]) -> "Generations":
        return replace(self, known=tuple(one for one in self.known if one.number not in numbers))

    def to(self, state: State, number: int, reason: str | None = None) -> "Generations":
        """The generation of the number, in another state."""
        return replace(
            self,
            known=tuple(
                replace(one, state=state, reason=reason) if one.number == number else one
                for one in self.known
            ),
        )

    def _last(self, states: frozenset[State]) -> Generation | None:
        return next((one for one in reversed(self.known) if one.state in states), None)


Change = Callable[[Generations], Generations]


def new(
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


def generations(settings: Settings, pipeline: str) -> Generations:
    """The pipeline's generations, from the control topic."""
    return all_generations(settings).get(pipeline, Generations(pipeline))


def all_generations(settings: Settings) -> dict[str, Generations]:
    """The generations of every pipeline, by its name, from the control topic."""
    controls = [decode(value).value for value in read_to_end(settings, GENERATIONS.name).values()]
    return {control["pipeline"]: from_control(control) for control in controls}


def from_control(control: Mapping[str, Any]) -> Generations:
    """The generations in a record of the control topic."""
    known = tuple(
        Generation(
            pipeline=control["pipeline"],
            number=one["number"],
            state=State(one["state"]),
            code_digest=one["code_digest"],
            created_at=one["created_at"],
            outputs={output["view"]: output["topic"] for output in one["outputs"]},
            reason=one["reason"],
            libraries=one.get("libraries"),
        )
        for one in control["generations"]
    )
    newest = max([control.get("newest") or 0, *(one.number for one in known)])
    return Generations(control["pipeline"], known, newest)


def to_control(all_of_it: Generations) -> dict[str, Any]:
    promoted = all_of_it.promoted
    return {
        "pipeline": all_of_it.pipeline,
        "promoted": promoted.number if promoted else None,
        "newest": all_of_it.newest,
        "generations": [
            {
                "number": one.number,
                "state": one.state.value,
                "reason": one.reason,
                "code_digest": one.code_digest,
                "libraries": one.libraries,
                "created_at": one.created_at,
                "outputs": [{"view": view, "topic": topic} for view, topic in one.outputs.items()],
            }
            for one in all_of_it.known
        ],
    }


def change(settings: Settings, pipeline: str, changed: Change) -> Generations:
    """Publish, in one record to every reader, what the function makes of the generations.

    Processes change them one after the other. If the function raises, nothing is changed. Raises
    BeingChanged.
    """
    folder = home(settings, pipeline)
    with lock_folder(folder, BeingChanged(pipeline), CHANGE_SECONDS_MAX):
        before = generations(settings, pipeline)
        after = changed(before)
        if after != before:
            control = to_control(after)
            record = key(GENERATIONS, control), encode(GENERATIONS, control)
            send(producer(settings), GENERATIONS.name, *record)
    return after


def invalidate(settings: Settings, generation: Generation, reason: str) -> None:
    """Mark the generation as invalid: its answer can no longer be trusted."""
    number = generation.number
    change(settings, generation.pipeline, lambda known: known.to(State.INVALID, number, reason))
