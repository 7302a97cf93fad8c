"""World time: the clock that stamps every record of the shop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.api.marker import epoch_ms

RUNNING = "running"


@dataclass(frozen=True)
class WorldClock:
    """Where the world's time stood at a moment of the wall clock, and how fast it runs."""

    world_at_ms: int
    wall_at_ms: int
    speed_milli: int  # world milliseconds per wall second
    running: bool

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "WorldClock":
        """The clock in a decoded record of the clock topic."""
        return cls(
            world_at_ms=epoch_ms(value["world_at"]),
            wall_at_ms=epoch_ms(value["wall_at"]),
            speed_milli=value["speed_milli"],
            running=value["state"] == RUNNING,
        )

    def at(self, wall_ms: int) -> int:
        """World time at a moment of the wall clock, both in epoch ms."""
        if not self.running:
            return self.world_at_ms
        return self.world_at_ms + (wall_ms - self.wall_at_ms) * self.speed_milli // 1000
