"""What the control topic says about a pipeline's generations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts import BOOKS

INVALID, READY, RETIRED = "invalid", "ready", "retired"


@dataclass(frozen=True)
class Generation:
    """One run of one pipeline's code, and the topics that carry its views."""

    pipeline: str
    number: int
    state: str
    topics: Mapping[str, str]  # by the name of the view
    reason: str | None = None  # why it is invalid

    @property
    def views(self) -> tuple[str, ...]:
        """The views that are its own; the books of all pipelines share a topic."""
        return tuple(sorted(name for name in self.topics if name != BOOKS.name))

    def __str__(self) -> str:
        return f"{self.pipeline} g{self.number}"


@dataclass(frozen=True)
class Promotion:
    """One control record: a pipeline's generations, and the one that readers are to read."""

    pipeline: str
    promoted: int | None
    generations: Mapping[int, Generation]

    @property
    def wanted(self) -> Generation | None:
        """The generation to read; none while there is none that may be trusted."""
        return None if self.promoted is None else self.trusted(self.promoted)

    @property
    def followed(self) -> Mapping[int, Generation]:
        """By number: the promoted one, the one that may follow it, and the one before it."""
        standby = (self._last(READY), self._last(RETIRED), self.wanted)
        return {one.number: one for one in standby if one is not None}

    def _last(self, state: str) -> Generation | None:
        found = [one for one in self.generations.values() if one.state == state]
        return found[-1] if found else None

    def trusted(self, number: int) -> Generation | None:
        """The generation of the number, if there is one that may be read."""
        return None if self.refuses(number) else self.generations.get(number)

    def refuses(self, number: int) -> bool:
        """Whether the generation of the number is known to be invalid."""
        found = self.generations.get(number)
        return found is not None and found.state == INVALID

    @classmethod
    def end(cls, pipeline: str) -> "Promotion":
        """What the control topic's end of a pipeline says."""
        return cls(pipeline, None, {})

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "Promotion":
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
