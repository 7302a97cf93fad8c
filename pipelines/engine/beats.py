"""How far a heartbeat may move the watermark: to the time of the world, by its clock.

The watermark only frees memory, so the clock decides no answer. But one heartbeat from a year to
come, accepted as its record's timestamp says the same, would free all of it for good.
"""

import time
from dataclasses import dataclass, replace
from datetime import timedelta

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from contracts import HEARTBEATS
from contracts.times import MILLISECOND
from infra.clock import get_wall_ms
from infra.settings import Settings
from ops.control.world_clock import AnnouncedClock, WorldClock, read_clock

LOOK_SECONDS = 60.0
"""The time between two looks at the announced clock: a simulator that starts, stops or is told
another speed announces another one. One that cannot keep up sets its clock back a little, each
time."""

assert HEARTBEATS.skew is not None, "its contract says how far a heartbeat may be ahead"
SKEW = HEARTBEATS.skew


WALL = WorldClock(world_ms=0, wall_ms=0, speed_milli=1_000)
"""The wall clock, as a world's."""


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
        return max(self._least_ms, self._shown.world_at(get_wall_ms())) + SKEW // MILLISECOND

    def build_column(self, spark: SparkSession) -> Column:
        """The limit where and when a row is read, as `find_ms`; one in a session of Spark."""
        shown, skew_ms, jvm = self._shown, SKEW // MILLISECOND, spark._jvm
        assert jvm is not None, "a session that is in use has its Java"
        numbers = [
            shown.world_ms + skew_ms,
            shown.wall_ms,
            shown.speed_milli,
            self._least_ms + skew_ms,
        ]
        name = "_".join(("beat_limit", *map(str, numbers)))
        if not spark.catalog.functionExists(name):
            function = jvm.retail.beats.BeatLimit.create(*numbers)
            spark._jsparkSession.udf().register(name, function)
        return F.timestamp_millis(F.call_function(name))

    @property
    def _shown(self) -> WorldClock:
        """The world's clock; the wall's where none runs."""
        return self.clock.clock if self.clock and self.clock.is_running else WALL

    @property
    def _least_ms(self) -> int:
        """World time where it stands."""
        return self.clock.clock.world_ms if self.clock and not self.clock.is_running else 0


def read_announced(settings: Settings) -> AnnouncedClock | None:
    """The clock as announced, whatever the last heartbeat says; None before."""
    announced = read_clock(settings)
    return announced and replace(announced, beat_ms=None)
