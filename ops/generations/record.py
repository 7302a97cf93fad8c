"""The generations of a pipeline, and the control record that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from contracts import BOOKS, GENERATIONS, Row
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, Reader, read_table


def get_wall_now() -> datetime:
    """The wall clock: it stamps control records and never enters a result."""
    return datetime.now(UTC)


Name = tuple[str, int]
"""What names a generation: its pipeline and its number."""


class State(StrEnum):
    CATCHING_UP = "catching-up"
    READY = "ready"
    PROMOTED = "promoted"
    RETIRED = "retired"
    INVALID = "invalid"


CANDIDATE = frozenset({State.CATCHING_UP, State.READY})
"""The states of a generation that may be promoted, now or once it has caught up."""


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
    state_partitions: int | None = None
    """In how many partitions its state is; None: it was not recorded."""

    @property
    def name(self) -> Name:
        return self.pipeline, self.number

    @property
    def views(self) -> tuple[str, ...]:
        """Its own views, without the accounting rows: all pipelines share their topic."""
        return tuple(sorted(name for name in self.outputs if name != BOOKS.name))

    def __str__(self) -> str:
        return f"{self.pipeline} g{self.number}"

    @classmethod
    def parse(cls, pipeline: str, run: Row) -> "Generation":
        """One entry of the control record's `generations`."""
        return cls(
            pipeline=pipeline,
            number=run["number"],
            state=State(run["state"]),
            code_digest=run["code_digest"],
            created_at=run["created_at"],
            outputs={output["view"]: output["topic"] for output in run["outputs"]},
            reason=run["reason"],
            libraries=run.get("libraries"),
            state_partitions=run.get("state_partitions"),
        )

    def to_row(self) -> Row:
        """The inverse of `parse`."""
        return {
            "number": self.number,
            "state": self.state.value,
            "reason": self.reason,
            "code_digest": self.code_digest,
            "libraries": self.libraries,
            "state_partitions": self.state_partitions,
            "created_at": self.created_at,
            "outputs": [{"view": view, "topic": topic} for view, topic in self.outputs.items()],
        }


@dataclass(frozen=True)
class Generations:
    """The generations of one pipeline: one record of the control topic holds all of them."""

    pipeline: str
    members: tuple[Generation, ...] = ()
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
        """The generations that pipelines keep up to date."""
        wanted = (self.promoted, self.candidate, self.retired)
        return tuple(member for member in self.members if member in wanted)

    @property
    def readable(self) -> tuple[Generation, ...]:
        """The generations that readers keep loaded; a candidate only when it is ready."""
        wanted = (self._last(frozenset({State.READY})), self.retired, self.promoted)
        return tuple(generation for generation in wanted if generation is not None)

    def of(self, number: int) -> Generation | None:
        return next((member for member in self.members if member.number == number), None)

    def is_invalid(self, number: int) -> bool:
        """Whether the generation of the number is known to be invalid."""
        generation = self.of(number)
        return generation is not None and generation.state is State.INVALID

    def plus(self, generation: Generation) -> "Generations":
        return replace(
            self, members=(*self.members, generation), newest=max(self.newest, generation.number)
        )

    def minus(self, numbers: frozenset[int]) -> "Generations":
        kept = tuple(member for member in self.members if member.number not in numbers)
        return replace(self, members=kept)

    def to(self, state: State, number: int, reason: str | None = None) -> "Generations":
        """The generation of the number, in another state."""
        members = tuple(
            replace(member, state=state, reason=reason) if member.number == number else member
            for member in self.members
        )
        return replace(self, members=members)

    def _last(self, states: frozenset[State]) -> Generation | None:
        return next((member for member in reversed(self.members) if member.state in states), None)

    @classmethod
    def parse(cls, control: Row) -> "Generations":
        """The generations in a decoded record of the control topic."""
        pipeline = control["pipeline"]
        members = tuple(Generation.parse(pipeline, run) for run in control["generations"])
        newest = max([control.get("newest") or 0, *(member.number for member in members)])
        return cls(pipeline, members, newest)

    def to_row(self) -> Row:
        """The inverse of `parse`: the control record's value."""
        promoted = self.promoted
        return {
            "pipeline": self.pipeline,
            "promoted": promoted.number if promoted else None,
            "newest": self.newest,
            "generations": [member.to_row() for member in self.members],
        }


def read_generations(settings: Settings, reader: Reader = ALL_FIELDS) -> dict[str, Generations]:
    """The generations of every pipeline, by its name. Raises as `read_table` does."""
    every = map(Generations.parse, read_table(settings, reader, GENERATIONS).values())
    return {each.pipeline: each for each in every}


def read_promoted(settings: Settings, reader: Reader = ALL_FIELDS) -> list[Generation]:
    """The generations that readers follow. Raises as `read_table` does."""
    promoted = (generations.promoted for generations in read_generations(settings, reader).values())
    return [generation for generation in promoted if generation is not None]
