"""The readers that answer from views, and the generations that each one has loaded."""

from collections.abc import Mapping

from contracts import READERS
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import Settings
from infra.wait import wait_for
from ops.control.reading import Reader, read_table
from ops.generations.record import Name

ALIVE_SECONDS = 15.0
"""A reader that is silent for longer counts as dead. Readers announce themselves every 5 s."""
SWITCH_SECONDS_MAX = 120.0
POLL_SECONDS = 0.05

READER = Reader(create_reader("command-line"))

Loaded = Mapping[Name, bool]
"""What a reader has loaded: the generations, and whether it serves each."""


def find_alive(settings: Settings) -> dict[str, Loaded]:
    """By name, the readers whose last announcement is at most ALIVE_SECONDS old."""
    silent_ms = get_wall_ms() - ALIVE_SECONDS * 1000
    return {
        record["reader"]: {
            (loaded["pipeline"], loaded["number"]): loaded["served"] for loaded in record["loaded"]
        }
        for record in read_table(settings, READER, READERS).values()
        if to_epoch_ms(record["written_at"]) > silent_ms
    }


def await_loaded(settings: Settings, generation: Name, *, served: bool = False) -> None:
    """Wait until every reader has loaded the generation, or also serves it. Raises UserError."""
    missing: list[str] = []

    def done() -> bool:
        nonlocal missing
        readers = find_alive(settings)
        missing = sorted(
            name
            for name, loaded in readers.items()
            if not (loaded.get(generation) if served else generation in loaded)
        )
        return bool(readers) and not missing

    if not wait_for(done, SWITCH_SECONDS_MAX, POLL_SECONDS):
        pipeline, number = generation
        who = ", ".join(missing) or "no reader is alive"
        raise UserError(
            f"Every reader should have {'served' if served else 'loaded'} generation {number} of "
            f"{pipeline} within {SWITCH_SECONDS_MAX:g} s, but not all have: {who}. See why: "
            "make logs COMPONENT=api"
        )
