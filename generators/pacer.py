"""Two paces for one world: by its clock, or as fast as possible."""

from collections.abc import Callable
from threading import Event as Signal
from typing import Protocol

from ops.control.world_clock import BEHIND_MS_MAX, ClockState, WorldClock

WAIT_MS_MAX = 1_000  # then read the clock again: somebody may set a wall clock

Announce = Callable[[WorldClock, ClockState], None]


class Pacer(Protocol):
    def wait(self, world_ms: int) -> bool:
        """Wait for that world time. Returns False if the world is to stop first."""

    def stand(self) -> None:
        """Stop world time until the next wait."""


class Unpaced:
    """No pace: every moment has come."""

    def __init__(self, stop: Signal) -> None:
        self._stop = stop

    def wait(self, world_ms: int) -> bool:
        return not self._stop.is_set()

    def stand(self) -> None:
        """Do nothing: no clock runs."""


class Paced:
    """World time runs with the wall clock, from the first moment that is not yet past."""

    def __init__(
        self,
        stop: Signal,
        past_ms: int,
        speed_milli: int,
        wall_ms: Callable[[], int],
        announce: Announce,
    ) -> None:
        self._stop = stop
        self._past_ms = past_ms
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
