from pathlib import Path
from threading import Event as Signal
from typing import Any

from generators.publisher import Publisher
from generators.resume import SNAPSHOT_TICKS, Logged, Snapshots
from generators.run import DiskGuard, Paced, Unpaced, run
from generators.ticks import START_MS
from generators.world import World
from ops.control.world_clock import ClockState, WorldClock
from tests.generators.worlds import SMALL, publish_hours

UNTIL_TICK = 2 * 60
ROOM = DiskGuard(Signal(), lambda: None)


class Topics:
    """A producer that takes everything."""

    def __init__(self) -> None:
        self.records: list[tuple[str, int, int, bytes]] = []

    def produce(
        self, topic: str, value: bytes, key: bytes, partition: int, *, timestamp: int, **_: Any
    ) -> None:
        self.records.append((topic, partition, timestamp, value))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        return 0


class Wall(Signal):
    """A wall clock that jumps to the end of every wait."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.now_ms += round((timeout or 0) * 1000)
        return self.is_set()


def run_small(
    pacer: Unpaced,
    folder: Path,
    until_tick: int = UNTIL_TICK,
    guard: DiskGuard = ROOM,
    topics: Topics | None = None,
) -> Topics:
    topics = topics or Topics()
    snapshots = Snapshots(folder, SMALL.render())
    run(
        World(SMALL),
        Logged({}),
        pacer,
        Publisher(topics),
        snapshots,
        guard,
        lambda _: None,
        until_tick,
    )
    return topics


def create_pacer(wall: Wall, speed_milli: int) -> Paced:
    def announce(_clock: WorldClock, _state: ClockState) -> None: ...

    return Paced(wall, START_MS, speed_milli, lambda: wall.now_ms, announce)


def test_live_and_backfill_publish_the_same_at_any_speed(tmp_path: Path) -> None:
    backfill = run_small(Unpaced(Signal()), tmp_path)
    slow = run_small(create_pacer(Wall(), 1_000), tmp_path)
    fast = run_small(create_pacer(Wall(), 3_600_000), tmp_path)
    assert backfill.records == slow.records == fast.records
    assert len(backfill.records) == len(publish_hours(2))


def test_live_a_record_is_published_when_its_time_has_come(tmp_path: Path) -> None:
    wall = Wall()
    early_ms = []

    class Clocked(Topics):
        def produce(self, *arguments: Any, timestamp: int, **rest: Any) -> None:
            early_ms.append((timestamp - START_MS) - wall.now_ms)

    run_small(create_pacer(wall, 1_000), tmp_path, topics=Clocked())
    assert max(early_ms) == 0


def test_a_stop_within_a_tick_ends_the_run(tmp_path: Path) -> None:
    stop = Signal()

    class Stopping(Topics):
        def produce(self, *arguments: Any, **rest: Any) -> None:
            super().produce(*arguments, **rest)
            if len(self.records) == 50:
                stop.set()

    assert len(run_small(Unpaced(stop), tmp_path, topics=Stopping()).records) == 50


def test_a_snapshot_is_written_every_few_hours(tmp_path: Path) -> None:
    run_small(Unpaced(Signal()), tmp_path, SNAPSHOT_TICKS + 1)
    assert len(list(tmp_path.iterdir())) == 1


def test_without_room_the_world_stands_and_then_goes_on_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    wall = Wall()
    announced: list[tuple[int, ClockState]] = []

    def announce(clock: WorldClock, state: ClockState) -> None:
        announced.append((clock.world_ms, state))

    def shortage() -> str | None:
        """Once, and for a while."""
        return "no room" if len(announced) < 2 else None

    pacer = Paced(wall, START_MS, 1_000, lambda: wall.now_ms, announce)
    pacer.wait(START_MS + 1)
    topics = run_small(pacer, tmp_path, guard=DiskGuard(wall, shortage))
    assert [state for _, state in announced[:3]] == [
        ClockState.RUNNING,
        ClockState.STOPPED,
        ClockState.RUNNING,
    ]
    assert announced[1][0] == announced[2][0]
    assert topics.records == run_small(Unpaced(Signal()), tmp_path).records


def test_a_stop_ends_the_wait_for_room(tmp_path: Path) -> None:
    stop = Signal()
    stop.set()
    guard = DiskGuard(stop, lambda: "no room")
    assert run_small(Unpaced(stop), tmp_path, guard=guard).records == []
