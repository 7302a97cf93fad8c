"""The world clock: world time as a function of wall time."""

import time
from dataclasses import dataclass
from enum import Enum

from generators.event import Event

WORLD = "world"  # there is one clock, and this is its key


class ClockState(Enum):
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

    def event(self, seed: int, state: ClockState) -> Event:
        return {
            "world": WORLD,
            "seed": seed,
            "world_at": self.world_ms,
            "wall_at": self.wall_ms,
            "speed_milli": self.speed_milli,
            "state": state.value,
        }


def speed_milli(speed: float) -> int:
    """A speed factor as the clock holds it; the slowest clock still moves."""
    return max(1, round(speed * 1000))


def wall_ms() -> int:
    """The wall clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
