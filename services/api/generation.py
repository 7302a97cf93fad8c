"""What the control topic says about a pipeline's generations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Generation:
    """One run of one pipeline's code, and the topics that carry its views."""

    pipeline: str
    number: int
    state: str
    topics: Mapping[str, str]  # by the name of the view

    def __str__(self) -> str:
        return f"{self.pipeline} g{self.number}"


@dataclass(frozen=True)
class Promotion:
    """One control record: a pipeline's generations, and the one that readers are to read."""

    pipeline: str
    promoted: int | None
    generations: Mapping[int, Generation]

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
            )
            for each in value["generations"]
        ]
        return cls(pipeline, value["promoted"], {each.number: each for each in every})
