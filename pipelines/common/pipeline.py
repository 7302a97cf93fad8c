"""What a pipeline declares: what it reads and writes, and how events become rows."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column

from contracts import HEARTBEATS, RELEASES, Contract
from infra.errors import Trouble


class UnknownPipeline(Trouble):
    """There is no room of that name."""

    def __init__(self, name: str) -> None:
        known = ", ".join(pipelines())
        super().__init__(f"There is no pipeline {name!r}. Known: {known}")


Posting = Mapping[str, Column]
"""What all lines of an event share, by name, and the array `lines`, as columns over the event."""


@dataclass(frozen=True)
class Pipeline:
    """One Spark program: topics in, a view out.

    An event posts lines; a line is an entry under a key of the view; entries add up to its row.
    """

    name: str
    posts: Mapping[Contract, Callable[[Column], Posting]]
    """By topic read: what an event of it posts. All have the same columns, of the same types."""
    writes: Contract
    totals: Callable[[], Mapping[str, Column]]
    """The view's other fields, as aggregates of entries.

    An entry has a posting's columns, its line's fields, `event_time`, and `first_of_event`: true
    for one entry per event and key, so that counting it counts events.
    """

    @property
    def reads(self) -> tuple[Contract, ...]:
        """The topics whose events it posts."""
        return tuple(self.posts)

    @property
    def inputs(self) -> tuple[Contract, ...]:
        """The topics whose records it reads: its own, and what every pipeline reads besides."""
        return (*self.reads, RELEASES, HEARTBEATS)


def pipelines() -> tuple[str, ...]:
    """The names of the rooms."""
    here = Path(__file__).parent.parent
    return tuple(
        sorted(
            file.parent.name for file in here.glob("*/pipeline.py") if file.parent.name != "common"
        )
    )


def load(name: str) -> Pipeline:
    """The pipeline declared in the room of that name; raises UnknownPipeline."""
    if name not in pipelines():
        raise UnknownPipeline(name)
    declared = importlib.import_module(f"pipelines.{name}.pipeline").PIPELINE
    assert isinstance(declared, Pipeline)
    return declared
