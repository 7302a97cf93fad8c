"""The world clock: world time as a function of wall time, as the simulator announces it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts import CLOCKS, HEARTBEATS, Row, encode_key
from contracts.times import to_epoch_ms
from infra.kafka import create_admin, read_between, read_end_offsets
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, Reader, read_table

WORLD = "world"  # there is one clock, and this is its key
HEARTBEAT_MS = 60_000
BEATS_READ_MAX = 10
"""Heartbeats at the end of their topic that are read; those that are rejected do not count."""
BEATS_COMPARED = 3

CLOCKS_READ_MAX = 2_000  # the newest is among the last ones: there is one world
AHEAD_MS_MAX = 3_600_000
"""How far a clock may be announced ahead of the last heartbeat, in world milliseconds: an own world
begins an hour after its first.
"""
BEHIND_MS_MAX = 10_000
"""How far a running simulator may be behind its clock, in wall milliseconds: then it sets it back.

After a longer sleep it does not rush through what it missed: world time stood.
"""


class ClockState(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"  # world time stands, or is not paced by a clock


@dataclass(frozen=True)
class WorldClock:
    """A clock that showed `world_ms` when the wall showed `wall_ms`, and has run since."""

    world_ms: int
    wall_ms: int
    speed_milli: int  # world milliseconds per wall second

    def world_at(self, wall_ms: int) -> int:
        return self.world_ms + (wall_ms - self.wall_ms) * self.speed_milli // 1000

    def wall_at(self, world_ms: int) -> int:
        """The first wall millisecond at which the world's has come."""
        return self.wall_ms - (self.world_ms - world_ms) * 1000 // self.speed_milli


@dataclass(frozen=True)
class AnnouncedClock:
    """A record of the clock topic, with the last heartbeat."""

    clock: WorldClock
    state: ClockState
    seed: int
    beat_ms: int | None = None  # the last heartbeat: the simulator has reached it for certain

    @classmethod
    def parse(cls, value: Row, beat_ms: int | None = None) -> "AnnouncedClock":
        """The clock in a decoded record of the clock topic."""
        clock = WorldClock(
            to_epoch_ms(value["world_at"]), to_epoch_ms(value["wall_at"]), value["speed_milli"]
        )
        return cls(clock, ClockState(value["state"]), value["seed"], beat_ms)

    def to_row(self) -> Row:
        """The inverse of `parse`: the value of a record."""
        return {
            "world": WORLD,
            "seed": self.seed,
            "world_at": self.clock.world_ms,
            "wall_at": self.clock.wall_ms,
            "speed_milli": self.clock.speed_milli,
            "state": self.state.value,
        }

    @property
    def is_running(self) -> bool:
        return self.state is ClockState.RUNNING

    def world_at(self, wall_ms: int) -> int:
        """World time at a moment of the wall clock, both in epoch milliseconds.

        A killed simulator cannot stop its clock. Its time stops after the last heartbeat, by as
        much as a running simulator may be behind, and continues from there.
        """
        return self._bound(self.clock.world_at(wall_ms)) if self.is_running else self.anchor_ms

    @property
    def anchor_ms(self) -> int:
        """The world time that was announced, within the bounds of the last heartbeat."""
        return self._bound(self.clock.world_ms)

    def _bound(self, world_ms: int) -> int:
        """Not before the last heartbeat, nor further beyond it than a true clock may be."""
        if self.beat_ms is None:
            return world_ms
        announced_ms = min(self.clock.world_ms, self.beat_ms + AHEAD_MS_MAX)
        behind_ms = 2 * HEARTBEAT_MS + BEHIND_MS_MAX * self.clock.speed_milli // 1000
        return max(self.beat_ms, min(world_ms, max(self.beat_ms, announced_ms) + behind_ms))


def read_clock(settings: Settings, reader: Reader = ALL_FIELDS) -> AnnouncedClock | None:
    """The world clock as last announced; None before. Raises as `read_table` does."""
    clocks = read_table(settings, reader, CLOCKS, records_max=CLOCKS_READ_MAX)
    row = clocks.get(encode_key(CLOCKS, {"world": WORLD}))
    if row is None:
        return None
    return AnnouncedClock.parse(row, read_beat_ms(settings))


def read_beat_ms(settings: Settings) -> int | None:
    """World time by the last heartbeats, as `choose_beat_ms` has it."""
    client = create_admin(settings)
    ends = read_end_offsets(client, [HEARTBEATS.name])
    starts = {partition: max(0, end - BEATS_READ_MAX) for partition, end in ends.items()}
    rows = [
        ALL_FIELDS.read_message(HEARTBEATS, message)
        for message in read_between(settings, starts, ends)
    ]
    beats = [to_epoch_ms(row["event_time"]) for row in rows if row is not None]
    return choose_beat_ms(beats)


def choose_beat_ms(beats: Sequence[int]) -> int | None:
    """World time by heartbeats in their order: the greatest of the last three, but for one of
    another time, on which its record's timestamp agrees. That lies further from the middle one than
    a true clock may be ahead. None before the first.
    """
    newest = sorted(beats[-BEATS_COMPARED:])
    if not newest:
        return None
    middle_ms = newest[(len(newest) - 1) // 2]
    return max(beat_ms for beat_ms in newest if beat_ms <= middle_ms + AHEAD_MS_MAX)
