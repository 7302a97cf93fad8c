from dataclasses import dataclass, field
from threading import Event as Signal

from generators.run import Paced, Unpaced
from ops.control.world_clock import BEHIND_MS_MAX, ClockState, WorldClock

PAST_MS = 1_000_000
SPEED = 10_000


@dataclass
class Wall(Signal):
    """A wall clock that moves only during a wait for the signal to stop."""

    now_ms: int = 50_000
    stops_at_ms: int | None = None
    announced: list[tuple[WorldClock, ClockState]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def wait(self, timeout: float | None = None) -> bool:
        self.now_ms += round((timeout or 0) * 1000)
        if self.stops_at_ms is not None and self.now_ms >= self.stops_at_ms:
            self.set()
        return self.is_set()

    def pacer(self) -> Paced:
        return Paced(self, PAST_MS, SPEED, lambda: self.now_ms, self.announce)

    def announce(self, clock: WorldClock, state: ClockState) -> None:
        self.announced.append((clock, state))


def test_the_past_is_not_waited_for_and_starts_no_clock() -> None:
    wall = Wall()
    assert wall.pacer().wait(PAST_MS)
    assert (wall.now_ms, wall.announced) == (50_000, [])


def test_a_minute_of_the_world_takes_six_seconds_at_speed_ten() -> None:
    wall = Wall()
    assert wall.pacer().wait(PAST_MS + 60_000)
    assert wall.now_ms == 56_000
    assert wall.announced == [(WorldClock(PAST_MS, 50_000, SPEED), ClockState.RUNNING)]


def test_a_stop_ends_the_wait() -> None:
    wall = Wall(stops_at_ms=52_000)
    assert not wall.pacer().wait(PAST_MS + 60_000)
    assert wall.now_ms == 52_000


def test_stopping_announces_where_the_world_stands() -> None:
    wall = Wall()
    pacer = wall.pacer()
    pacer.wait(PAST_MS + 60_000)
    pacer.stand()
    assert wall.announced[-1] == (
        WorldClock(PAST_MS + 60_000, 56_000, SPEED),
        ClockState.STOPPED,
    )


def test_a_little_behind_catches_up() -> None:
    wall = Wall()
    pacer = wall.pacer()
    pacer.wait(PAST_MS + 10)
    wall.now_ms += BEHIND_MS_MAX
    assert pacer.wait(PAST_MS + 20)
    assert len(wall.announced) == 1


def test_after_a_long_sleep_world_time_has_stood() -> None:
    wall = Wall()
    pacer = wall.pacer()
    pacer.wait(PAST_MS + 10)
    wall.now_ms += 3_600_000
    assert pacer.wait(PAST_MS + 20)
    assert wall.announced[-1] == (
        WorldClock(PAST_MS + 20, wall.now_ms, SPEED),
        ClockState.RUNNING,
    )


def test_backfill_waits_for_nothing_but_stops_when_told() -> None:
    stop = Signal()
    pacer = Unpaced(stop)
    assert pacer.wait(10**15)
    stop.set()
    assert not pacer.wait(0)
