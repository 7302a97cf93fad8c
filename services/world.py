"""World time: the time that is the timestamp of every record of the shop."""

from dataclasses import dataclass

from contracts import Row
from services.times import epoch_ms

RUNNING = "running"
MINUTE_MS = 60_000
BEHIND_WALL_MS_MAX = 10_000  # a simulator that is further behind sets its clock back


@dataclass(frozen=True)
class WorldClock:
    """World time at a moment of the wall clock, and how fast it runs from there."""

    world_at_ms: int
    wall_at_ms: int
    speed_milli: int  # world milliseconds per wall second
    running: bool
    beat_ms: int | None = None  # the last heartbeat: the simulator has reached it for certain

    @classmethod
    def parse(cls, value: Row) -> "WorldClock":
        """The clock in a decoded record of the clock topic."""
        return cls(
            world_at_ms=epoch_ms(value["world_at"]),
            wall_at_ms=epoch_ms(value["wall_at"]),
            speed_milli=value["speed_milli"],
            running=value["state"] == RUNNING,
        )

    def at(self, wall_ms: int) -> int:
        """World time at a moment of the wall clock, both in epoch ms.

        A killed simulator cannot stop its clock. Its time stops after the last heartbeat, by as
        much as a running simulator may be behind, and continues from there.
        """
        if not self.running:
            return self.world_at_ms
        now_ms = self.world_at_ms + (wall_ms - self.wall_at_ms) * self.speed_milli // 1000
        if self.beat_ms is None:
            return now_ms
        behind_ms = 2 * MINUTE_MS + BEHIND_WALL_MS_MAX * self.speed_milli // 1000
        return min(now_ms, max(self.beat_ms, self.world_at_ms) + behind_ms)
