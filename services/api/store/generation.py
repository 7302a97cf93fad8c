"""A pipeline's generations, as the control topic describes them."""

from collections.abc import Mapping
from dataclasses import dataclass

from contracts import BOOKS, Row

INVALID, READY, RETIRED = "invalid", "ready", "retired"


@dataclass(frozen=True)
class Generation:
    """One run of a pipeline's code, and the topics that carry its views."""

    pipeline: str
    number: int
    state: str
    topics: Mapping[str, str]  # by the name of the view
    reason: str | None = None  # why it is invalid

    @property
    def views(self) -> tuple[str, ...]:
        """Its own views, without the accounting rows: all pipelines share their topic."""
        return tuple(sorted(name for name in self.topics if name != BOOKS.name))

    def __str__(self) -> str:
        return f"{self.pipeline} g{self.number}"


@dataclass(frozen=True)
class Promotion:
    """One control record: a pipeline's generations, and the promoted one."""

    pipeline: str
    promoted: int | None
    generations: Mapping[int, Generation]

    @property
    def wanted(self) -> Generation | None:
        """The promoted generation; None while there is none that may be read."""
        return None if self.promoted is None else self.find_valid(self.promoted)

    @property
    def followed(self) -> Mapping[int, Generation]:
        """By number: the promoted generation, its candidate and its predecessor."""
        standby = (self._last(READY), self._last(RETIRED), self.wanted)
        return {one.number: one for one in standby if one is not None}

    def _last(self, state: str) -> Generation | None:
        found = [one for one in self.generations.values() if one.state == state]
        return found[-1] if found else None

    def find_valid(self, number: int) -> Generation | None:
        """The generation of the number, unless it is invalid or unknown."""
        return None if self.is_invalid(number) else self.generations.get(number)

    def is_invalid(self, number: int) -> bool:
        """Whether the generation of the number is known to be invalid."""
        found = self.generations.get(number)
        return found is not None and found.state == INVALID

    @classmethod
    def empty(cls, pipeline: str) -> "Promotion":
        """The promotion of a pipeline whose control record was deleted."""
        return cls(pipeline, None, {})

    @classmethod
    def parse(cls, value: Row) -> "Promotion":
        """The promotion in a decoded record of the control topic."""
        pipeline = value["pipeline"]
        every = [
            Generation(
                pipeline=pipeline,
                number=each["number"],
                state=each["state"],
                topics={output["view"]: output["topic"] for output in each["outputs"]},
                reason=each["reason"],
            )
            for each in value["generations"]
        ]
        return cls(pipeline, value["promoted"], {each.number: each for each in every})
