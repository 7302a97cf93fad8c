"""Two logs of one world, with real brokers: lived at some speed, and filled in as history."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Signal

import pytest

from contracts import CONTRACTS, HEARTBEATS
from generators import simulator
from generators.clock import wall_ms
from generators.resume import Published
from generators.simulator import simulate
from generators.ticks import START_MS, TICK_MS
from infra.kafka import Partition, answers, apply_topics
from infra.settings import Settings
from tests.brokers import start_broker
from tests.generators.log import log
from tests.ports import free_port_base
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

LIVED_MINUTES = 60

Log = dict[Partition, list[Published]]


class Wall(Signal):
    """A wall clock that jumps to the end of every wait, and says stop when its time is over."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.now_ms = wall_ms()
        self._over_ms = self.now_ms + int(seconds * 1000)

    def wait(self, timeout: float | None = None) -> bool:
        self.now_ms += round((timeout or 0) * 1000)
        if self.now_ms >= self._over_ms:
            self.set()
        return self.is_set()


@contextmanager
def empty_log(folder: Path) -> Iterator[Settings]:
    """A broker of its own, with every topic, for a small and dirty world."""
    where = Settings(
        data_dir=folder,
        port_base=free_port_base(),
        simulator_stores=3,
        simulator_products=60,
        simulator_receipts_per_second=5.0,
        simulator_duplicate_rate=0.05,
        simulator_late_rate=0.05,
        simulator_malformed_rate=0.02,
        simulator_broken_rule_rate=0.02,
    )
    broker = start_broker(where)
    try:
        wait_until(lambda: answers(where), "the broker answers", seconds_max=60)
        apply_topics(where, CONTRACTS)
        yield where
    finally:
        broker.kill()
        broker.wait(30)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """One day, as fast as it goes."""
    with empty_log(tmp_path_factory.mktemp("history")) as where:
        simulate(where, Signal(), backfill_days=1, live=False)
        return log(where)


@pytest.mark.parametrize("speed", [50.0, 600.0])
def test_a_world_that_is_lived_is_the_one_that_is_filled_in(
    speed: float, history: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = Wall(seconds=LIVED_MINUTES * 60 / speed)
    monkeypatch.setattr(simulator, "wall_ms", lambda: wall.now_ms)
    with empty_log(tmp_path) as where:
        simulate(where.model_copy(update={"simulator_speed": speed}), wall)
        lived = log(where)
    beaten_ms = lived[HEARTBEATS.name, 0][-1].published_ms
    assert beaten_ms >= START_MS + (LIVED_MINUTES - 1) * TICK_MS
    assert lived.keys() == history.keys()
    for partition, records in history.items():
        so_far = lived[partition]
        assert so_far == records[: len(so_far)]
        assert len(so_far) >= sum(record.published_ms < beaten_ms for record in records)
