"""The loop: the same world at any pace, in its own time, and only while the disk has room."""

from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Signal
from typing import Any, cast

import pytest

from generators.publisher import Publisher
from generators.resume import SNAPSHOT_TICKS, Logged, Snapshots
from generators.run import DiskGuard, Paced, Unpaced, run
from generators.ticks import START_MS
from generators.world import World
from ops.control.world_clock import BEHIND_MS_MAX, ClockState, WorldClock
from tests.generators.worlds import SMALL, publish_hours

UNTIL_TICK = 2 * 60
SPEED = 10_000
ROOM = DiskGuard(Signal(), lambda: None)

Sent = tuple[str, int, int, bytes]
"""Topic, partition, time and value."""


class Topics:
    """A producer that takes everything."""

    def __init__(self) -> None:
        self.records: list[Sent] = []

    def produce(
        self, topic: str, value: bytes, key: bytes, partition: int, *, timestamp: int, **_: Any
    ) -> None:
        self.records.append((topic, partition, timestamp, value))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        return 0


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

    def create_pacer(self, speed_milli: int = SPEED) -> Paced:
        return Paced(self, START_MS, speed_milli, lambda: self.now_ms, self.announce)

    def announce(self, clock: WorldClock, state: ClockState) -> None:
        self.announced.append((clock, state))


def run_small(
    pacer: Unpaced,
    folder: Path,
    until_tick: int = UNTIL_TICK,
    guard: DiskGuard = ROOM,
    topics: Topics | None = None,
) -> list[Sent]:
    topics = topics or Topics()
    publisher, snapshots = Publisher(cast(Any, topics)), Snapshots(folder, SMALL.render())
    run(World(SMALL), Logged({}), pacer, publisher, snapshots, guard, lambda _: None, until_tick)
    return topics.records


def test_live_and_backfill_publish_the_same_at_any_speed(tmp_path: Path) -> None:
    backfill = run_small(Unpaced(Signal()), tmp_path)
    assert len(backfill) == len(publish_hours(2))
    for speed_milli in (1_000, 3_600_000):
        assert run_small(Wall().create_pacer(speed_milli), tmp_path) == backfill


def test_live_a_record_is_published_when_its_time_has_come(tmp_path: Path) -> None:
    wall = Wall(now_ms=0)
    early_ms = []

    class Clocked(Topics):
        def produce(self, *arguments: Any, timestamp: int, **rest: Any) -> None:
            early_ms.append((timestamp - START_MS) - wall.now_ms)

    run_small(wall.create_pacer(1_000), tmp_path, topics=Clocked())
    assert max(early_ms) == 0


def test_a_stop_within_a_tick_ends_the_run(tmp_path: Path) -> None:
    stop = Signal()

    class Stopping(Topics):
        def produce(self, *arguments: Any, **rest: Any) -> None:
            super().produce(*arguments, **rest)
            if len(self.records) == 50:
                stop.set()

    assert len(run_small(Unpaced(stop), tmp_path, topics=Stopping())) == 50


def test_a_snapshot_is_written_every_few_hours(tmp_path: Path) -> None:
    run_small(Unpaced(Signal()), tmp_path, SNAPSHOT_TICKS + 1)
    assert len(list(tmp_path.iterdir())) == 1


def test_without_room_the_world_stands_and_then_goes_on_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    wall = Wall()
    once = DiskGuard(wall, lambda: "no room" if len(wall.announced) < 2 else None)
    pacer = wall.create_pacer(1_000)
    pacer.wait(START_MS + 1)
    records = run_small(pacer, tmp_path, guard=once)
    (_, ran), (before, stood), (after, runs) = wall.announced[:3]
    assert (ran, stood, runs) == (ClockState.RUNNING, ClockState.STOPPED, ClockState.RUNNING)
    assert before.world_ms == after.world_ms
    assert len(records) == len(publish_hours(2))


def test_a_stop_ends_the_wait_for_room(tmp_path: Path) -> None:
    stop = Signal()
    stop.set()
    assert run_small(Unpaced(stop), tmp_path, guard=DiskGuard(stop, lambda: "no room")) == []


def test_the_past_is_not_waited_for_and_starts_no_clock() -> None:
    wall = Wall()
    assert wall.create_pacer().wait(START_MS)
    assert (wall.now_ms, wall.announced) == (50_000, [])


def test_a_minute_of_the_world_takes_six_seconds_at_speed_ten_and_then_it_stands() -> None:
    wall = Wall()
    pacer = wall.create_pacer()
    assert pacer.wait(START_MS + 60_000)
    assert wall.now_ms == 56_000
    pacer.stand()
    assert wall.announced == [
        (WorldClock(START_MS, 50_000, SPEED), ClockState.RUNNING),
        (WorldClock(START_MS + 60_000, 56_000, SPEED), ClockState.STOPPED),
    ]


def test_another_speed_starts_a_clock_where_the_last_one_is() -> None:
    wall = Wall()
    pacer = wall.create_pacer()
    pacer.set_speed(2 * SPEED)
    assert wall.announced == []
    pacer.set_speed(None)
    assert pacer.wait(START_MS + 60_000)
    pacer.set_speed(3 * SPEED)
    pacer.set_speed(3 * SPEED)
    assert pacer.wait(START_MS + 120_000)
    assert wall.now_ms == 58_000
    pacer.set_speed(None)
    assert [clock for clock, _ in wall.announced] == [
        WorldClock(START_MS, 50_000, SPEED),
        WorldClock(START_MS + 60_000, 56_000, 3 * SPEED),
        WorldClock(START_MS + 120_000, 58_000, SPEED),
    ]


@pytest.mark.parametrize(("behind_ms", "announced"), [(BEHIND_MS_MAX, 1), (3_600_000, 2)])
def test_a_little_behind_catches_up_and_after_a_long_sleep_world_time_has_stood(
    behind_ms: int, announced: int
) -> None:
    wall = Wall()
    pacer = wall.create_pacer()
    pacer.wait(START_MS + 10)
    wall.now_ms += behind_ms
    assert pacer.wait(START_MS + 20)
    again = (WorldClock(START_MS + 20, wall.now_ms, SPEED), ClockState.RUNNING)
    assert wall.announced[1:] == [again] * (announced - 1)
