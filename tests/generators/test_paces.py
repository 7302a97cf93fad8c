"""Two logs of one world, in a real broker: one published at some speed, one as history."""

from pathlib import Path
from threading import Event as Signal

import pytest

from contracts import HEARTBEATS
from generators import simulator
from generators.clock import get_wall_ms
from generators.resume import Published
from generators.simulator import simulate
from generators.ticks import START_MS, TICK_MS
from infra.kafka import Partition
from infra.settings import Settings
from tests.brokers import empty_broker
from tests.generators.log import log
from tests.worlds import shrink_world

pytestmark = pytest.mark.e2e

LIVED_MINUTES = 60

Log = dict[Partition, list[Published]]


class Wall(Signal):
    """A wall clock that jumps to the end of every wait, and says stop when its time is over."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.now_ms = get_wall_ms()
        self._over_ms = self.now_ms + int(seconds * 1000)

    def wait(self, timeout: float | None = None) -> bool:
        self.now_ms += round((timeout or 0) * 1000)
        if self.now_ms >= self._over_ms:
            self.set()
        return self.is_set()


def create_empty_log(shared_broker: Settings, folder: Path) -> Settings:
    """Every topic, all empty, for a small and dirty world."""
    return shrink_world(empty_broker(shared_broker, folder), 3, 60, 5.0, simulator_dirt=40)


@pytest.fixture(scope="module")
def history(shared_broker: Settings, tmp_path_factory: pytest.TempPathFactory) -> Log:
    """One day, as fast as it goes."""
    settings = create_empty_log(shared_broker, tmp_path_factory.mktemp("history"))
    simulate(settings, Signal(), backfill_days=1, live=False)
    return log(settings)


@pytest.mark.parametrize("speed", [50.0, 600.0])
def test_a_world_that_is_lived_is_the_one_that_is_filled_in(
    speed: float,
    history: Log,
    shared_broker: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wall = Wall(seconds=LIVED_MINUTES * 60 / speed)
    monkeypatch.setattr(simulator, "get_wall_ms", lambda: wall.now_ms)
    settings = create_empty_log(shared_broker, tmp_path)
    simulate(settings.model_copy(update={"simulator_speed": speed}), wall)
    lived = log(settings)
    beaten_ms = lived[HEARTBEATS.name, 0][-1].published_ms
    assert beaten_ms >= START_MS + (LIVED_MINUTES - 1) * TICK_MS
    assert lived.keys() == history.keys()
    for partition, records in history.items():
        so_far = lived[partition]
        assert so_far == records[: len(so_far)]
        assert len(so_far) >= sum(record.published_ms < beaten_ms for record in records)
