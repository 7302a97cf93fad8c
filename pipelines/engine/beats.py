"""How far a heartbeat may move the watermark: to the time of the world, by its clock.

The watermark only frees memory, so the clock decides no answer. But one heartbeat from a year to
come, accepted as its record's timestamp says the same, would free all of it for good.
"""

import time
from dataclasses import dataclass, replace
from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts import HEARTBEATS
from contracts.times import MILLISECOND
from infra.clock import get_wall_ms
from infra.settings import Settings
from ops.control.world_clock import AnnouncedClock, read_clock

LOOK_SECONDS = 60.0
"""The time between two looks at the announced clock: a simulator that starts, stops or is told
another speed announces another one. One that cannot keep up sets its clock back a little, each
time."""

assert HEARTBEATS.skew is not None, "its contract says how far a heartbeat may be ahead"
SKEW = HEARTBEATS.skew


@dataclass
class BeatLimit:
    """The limit of one query's heartbeats."""

    settings: Settings
    clock: AnnouncedClock | None
    """As announced when the query began; None: there was none."""
    looked_at: float

    @classmethod
    def read(cls, settings: Settings) -> "BeatLimit":
        """The limit by the clock that is announced now."""
        return cls(settings, read_announced(settings), time.monotonic())

    def is_outdated(self) -> bool:
        """Whether the clock that is announced now differs from this one by more than the skew.

        It looks once in LOOK_SECONDS.
        """
        if time.monotonic() - self.looked_at < LOOK_SECONDS:
            return False
        self.looked_at = time.monotonic()
        newest = read_announced(self.settings)
        if newest is None or self.clock is None or newest.state is not self.clock.state:
            return newest is not self.clock
        wall_ms = get_wall_ms()
        apart_ms = abs(newest.world_at(wall_ms) - self.clock.world_at(wall_ms))
        return timedelta(milliseconds=apart_ms) > SKEW

    def find_ms(self) -> int:
        """The limit at this moment, in epoch milliseconds."""
        wall_ms = get_wall_ms()
        world_ms = self.clock.world_at(wall_ms) if self.clock else wall_ms
        stands = self.clock is not None and not self.clock.is_running
        return (max(wall_ms, world_ms) if stands else world_ms) + SKEW // MILLISECOND

    def build_column(self) -> Column:
        """The limit at the start of a batch: world time, and the skew; wall time where no clock
        runs.
        """
        wall_ms = F.unix_millis(F.current_timestamp())
        now_ms = wall_ms
        if self.clock is not None and self.clock.is_running:
            at = self.clock.clock
            since_ms = wall_ms - F.lit(at.wall_ms)
            now_ms = F.lit(at.world_ms) + F.floor(since_ms * at.speed_milli / 1000)
        elif self.clock is not None:
            now_ms = F.greatest(wall_ms, F.lit(self.clock.clock.world_ms))
        return F.timestamp_millis(now_ms + SKEW // MILLISECOND)


def read_announced(settings: Settings) -> AnnouncedClock | None:
    """The clock as announced, whatever the last heartbeat says; None before."""
    announced = read_clock(settings)
    return announced and replace(announced, beat_ms=None)
