"""The world clock: tied to the wall clock, and announced in its control topic."""

import json

from confluent_kafka import Message

from contracts import CLOCKS, encode, encode_key
from contracts.consumer import create_reader
from generators.parameters import Parameters
from generators.publisher import Publisher
from generators.resume import OtherWorld, find_last_published, get_header
from infra.settings import Settings
from ops.control.reading import Reader
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock

PARAMETERS_HEADER = "parameters"
OWN = b"own"
"""The header's value where the world is not simulated."""

READER = Reader(create_reader("simulator"))


def to_speed_milli(speed: float) -> int:
    """The speed factor in thousandths, as a clock holds it: at least 1, so every clock moves."""
    return max(1, round(speed * 1000))


class ClockPublisher:
    """Announces the clock; the header `parameters` names its world."""

    def __init__(self, publisher: Publisher, world: bytes, seed: int) -> None:
        self._publisher = publisher
        self._world = world
        self._seed = seed

    def announce(self, clock: WorldClock, state: ClockState) -> None:
        event = AnnouncedClock(clock, state, self._seed).to_row()
        self._publisher.send(
            CLOCKS.name,
            partition=0,
            key=encode_key(CLOCKS, event),
            value=encode(CLOCKS, event),
            published_ms=clock.wall_ms,  # wall time: no event of the world
            headers=[(PARAMETERS_HEADER, self._world)],
        )

    def flush(self) -> None:
        self._publisher.flush()


def find_announced(settings: Settings) -> Message | None:
    """The last good announcement in the log; None before the first."""
    announced = find_last_published(settings, [CLOCKS.name], PARAMETERS_HEADER, is_announcement)
    return next(iter(announced.values()), None)


def is_announcement(message: Message) -> bool:
    """Whether the record announces a clock, and its header names a world."""
    named = get_header(message, PARAMETERS_HEADER)
    if named != OWN:
        try:
            json.loads(named or b"")
        except ValueError:
            return False
    return READER.read_message(CLOCKS, message) is not None


def read_announced_ms(message: Message, parameters: Parameters, newest_ms: int) -> int:
    """World time of an announcement, in milliseconds. Raises OtherWorld for another world's.

    `newest_ms`: world time of the newest record in the log, which bounds it; zero: none.
    """
    named = get_header(message, PARAMETERS_HEADER) or b""
    if named == OWN:
        raise OtherWorld("WORLD simulated", "one with WORLD own")
    expected, found = parameters.find_differences(named.decode())
    if expected:
        raise OtherWorld(expected, found)
    row = READER.read_message(CLOCKS, message)
    return 0 if row is None else AnnouncedClock.parse(row, newest_ms or None).anchor_ms
