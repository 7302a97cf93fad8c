"""The readers that answer from views, and the generations that each one has loaded."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from contracts import READERS
from contracts.consumer import create_reader
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import Settings
from infra.wait import wait_for
from ops.control.reading import Reader as Records
from ops.control.reading import read_table
from ops.generations.record import Name

ALIVE_SECONDS = 15.0
"""A reader that is silent for longer counts as dead. Readers announce themselves every 5 s."""
SWITCH_SECONDS_MAX = 120.0
POLL_SECONDS = 0.05

READER = Records(create_reader("command-line"))


@dataclass(frozen=True)
class Reader:
    """A process that answers from views."""

    name: str
    loaded: Mapping[Name, bool]
    """The generations that it has loaded, and whether it serves each."""


def find_alive(settings: Settings) -> Iterator[Reader]:
    """The readers whose last announcement is at most ALIVE_SECONDS old."""
    now = datetime.fromtimestamp(get_wall_ms() / 1000, UTC)
    for record in read_table(settings, READER, READERS).values():
        if now - record["written_at"] < timedelta(seconds=ALIVE_SECONDS):
            loaded = {(one["pipeline"], one["number"]): one["served"] for one in record["loaded"]}
            yield Reader(record["reader"], loaded)


def await_loaded(settings: Settings, generation: Name) -> None:
    """Wait until every reader has loaded the generation. Raises UserError."""
    await_all(settings, generation, "loaded", lambda one: generation in one.loaded)


def await_served(settings: Settings, generation: Name) -> None:
    """Wait until every reader serves the generation. Raises UserError."""
    await_all(settings, generation, "served", lambda one: one.loaded.get(generation, False))


def await_all(
    settings: Settings, generation: Name, what: str, does: Callable[[Reader], bool]
) -> None:
    missing: tuple[str, ...] = ()

    def done() -> bool:
        nonlocal missing
        readers = tuple(find_alive(settings))
        missing = tuple(sorted(one.name for one in readers if not does(one)))
        return bool(readers) and not missing

    if not wait_for(done, SWITCH_SECONDS_MAX, POLL_SECONDS):
        pipeline, number = generation
        who = ", ".join(missing) or "no reader is alive"
        raise UserError(
            f"Every reader should have {what} generation {number} of {pipeline} within "
            f"{SWITCH_SECONDS_MAX:g} s, but not all have: {who}. See why: make logs COMPONENT=api"
        )
