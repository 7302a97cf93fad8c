"""World time: the clock that stamps every record of the shop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.api.marker import epoch_ms

RUNNING = "running"
MINUTE_MS = 60_000
BEHIND_WALL_MS_MAX = 10_000  # a simulator that is further behind sets its clock back


@dataclass(frozen=True)
class WorldClock:
    """Where the world's time stood at a moment of the wall clock, and how fast it runs."""

    world_at_ms: int
    wall_at_ms: int
    speed_milli: int  # world milliseconds per wall second
    running: bool
    beat_ms: int | None = None  # up to here the simulator has certainly come

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
        """World time at a moment of the wall clock, both in epoch ms.

        A simulator that was killed could not stop its clock: the time stands soon after its last
        heartbeat, as far as a living one may be behind. It goes on from there.
        """
        if not self.running:
            return self.world_at_ms
        now_ms = self.world_at_ms + (wall_ms - self.wall_at_ms) * self.speed_milli // 1000
        if self.beat_ms is None:
            return now_ms
        behind_ms = 2 * MINUTE_MS + BEHIND_WALL_MS_MAX * self.speed_milli // 1000
        return min(now_ms, max(self.beat_ms, self.world_at_ms) + behind_ms)
