"""The loop of the world: tick by tick, at its clock's pace or at full speed, while the disk has
room.
"""

import logging
import time
from collections.abc import Callable
from threading import Event as Signal
from typing import NamedTuple

from generators.inputs import Inputs
from generators.publisher import Publisher
from generators.resume import SNAPSHOT_TICKS, Logged, Snapshots
from generators.ticks import TICKS_PER_DAY, to_tick_start_ms
from generators.world import World
from ops.control.world_clock import BEHIND_MS_MAX, ClockState, WorldClock

DISK_LOOK_SECONDS = 5.0
WAIT_MS_MAX = 1_000  # then read the clock again: somebody may set a wall clock

log = logging.getLogger("simulator")


class Progress(NamedTuple):
    """The world's next tick, and the records published since the program started."""

    tick: int
    records: int

    @property
    def days(self) -> int:
        """Whole days since the world began."""
        return self.tick // TICKS_PER_DAY

    @property
    def world_ms(self) -> int:
        return to_tick_start_ms(self.tick)


class Unpaced:
    """The pace of a backfill: every moment has come."""

    def __init__(self, stop: Signal) -> None:
        self._stop = stop

    def wait(self, world_ms: int) -> bool:
        """Wait for that world time. Returns False if the world is to stop first."""
        return not self._stop.is_set()

    def set_speed(self, speed_milli: int | None) -> None:
        """Run at that speed from now on; None: at the first one."""

    def stand(self) -> None:
        """Stop world time until the next wait."""


class Paced(Unpaced):
    """World time runs with the wall clock, from the first moment that is not yet past."""

    def __init__(
        self,
        stop: Signal,
        past_ms: int,
        speed_milli: int,
        wall_ms: Callable[[], int],
        announce: Callable[[WorldClock, ClockState], None],
    ) -> None:
        super().__init__(stop)
        self._past_ms = past_ms
        self._usual_milli = speed_milli
        self._speed_milli = speed_milli
        self._wall_ms = wall_ms
        self._announce = announce
        self._clock: WorldClock | None = None

    def wait(self, world_ms: int) -> bool:
        if world_ms <= self._past_ms:
            return not self._stop.is_set()
        clock = self._clock or self._start(self._past_ms)
        while not self._stop.is_set():
            behind_ms = self._wall_ms() - clock.wall_at(world_ms)
            if behind_ms > BEHIND_MS_MAX:
                self._start(world_ms)
            if behind_ms >= 0:
                return True
            self._stop.wait(min(-behind_ms, WAIT_MS_MAX) / 1000)
        return False

    def set_speed(self, speed_milli: int | None) -> None:
        wanted_milli = speed_milli or self._usual_milli
        if wanted_milli == self._speed_milli:
            return
        self._speed_milli = wanted_milli
        if self._clock:
            self._start(self._clock.world_at(self._wall_ms()))

    def stand(self) -> None:
        now_ms = self._wall_ms()
        if self._clock:
            self._past_ms = self._clock.world_at(now_ms)
            self._clock = None
        self._announce(WorldClock(self._past_ms, now_ms, self._speed_milli), ClockState.STOPPED)

    def _start(self, world_ms: int) -> WorldClock:
        self._clock = WorldClock(world_ms, self._wall_ms(), self._speed_milli)
        self._announce(self._clock, ClockState.RUNNING)
        return self._clock


class DiskGuard:
    """Checks the free space every DISK_LOOK_SECONDS."""

    def __init__(self, stop: Signal, shortage: Callable[[], str | None]) -> None:
        """`shortage` returns what is lacking, in words; None if nothing is."""
        self._stop = stop
        self._shortage = shortage
        self._look_at = 0.0

    def has_room(self) -> bool:
        """Whether there was room at the last check."""
        if time.monotonic() < self._look_at:
            return True
        shortage = self._look()
        if shortage:
            log.warning("the world stands still: %s", shortage)
        return not shortage

    def wait(self) -> bool:
        """Wait for room. Returns False if the world is to stop first."""
        while not self._stop.wait(DISK_LOOK_SECONDS):
            if not self._look():
                log.info("the disk has room again: the world goes on")
                return True
        return False

    def _look(self) -> str | None:
        shortage = self._shortage()
        self._look_at = time.monotonic() + DISK_LOOK_SECONDS
        return shortage


def run(
    world: World,
    logged: Logged,
    pacer: Unpaced,
    publisher: Publisher,
    snapshots: Snapshots,
    disk_guard: DiskGuard,
    report: Callable[[Progress], None],
    until_tick: int | None = None,
    inputs: Inputs | None = None,
) -> None:
    """Publish the records that the log lacks, up to `until_tick` or until stopped.

    `report` is called at the end of every tick. Raises PublishingFailed; raises OtherWorld if the
    log holds another world.
    """
    published = 0
    pacer.set_speed(world.load.speed_milli)
    while until_tick is None or world.next_tick < until_tick:
        tick = world.next_tick
        if not disk_guard.has_room():
            publisher.flush()
            pacer.stand()
            if not disk_guard.wait():
                return
        if not pacer.wait(to_tick_start_ms(tick)):
            return
        if tick and tick % SNAPSHOT_TICKS == 0:
            snapshots.save(world)
        heard = inputs.take_due(tick) if inputs else ()
        publications = logged.select_missing(world.tick(heard))
        pacer.set_speed(world.load.speed_milli)
        for publication in publications:
            if not pacer.wait(publication.published_ms):
                return
            publisher.publish(publication)
            published += 1
        publisher.check()
        report(Progress(world.next_tick, published))
