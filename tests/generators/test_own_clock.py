"""The clock of a world without a simulator, on a real broker."""

from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest

from contracts import CLOCKS, decode
from generators.own_clock import Timekeeper, keep_time, read_heartbeat_ms, refuse_other
from generators.resume import OtherWorld
from generators.simulator import simulate
from generators.ticks import HOUR_MS
from infra.clock import get_wall_ms
from infra.kafka import read_to_end
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import empty_broker

pytestmark = pytest.mark.e2e


@pytest.fixture
def log(shared_broker: Settings, tmp_path: Path) -> Settings:
    """An empty log."""
    return empty_broker(shared_broker, tmp_path)


OWN = {"world": "2010-12-01"}
BEGINS_MS = 1_291_161_600_000


def read_clock_row(settings: Settings) -> dict[str, Any]:
    """What the newest record of the clock says; empty before there is one."""
    rows = [decode(value).value for value in read_to_end(settings, CLOCKS.name).values()]
    return dict(rows[-1]) if rows else {}


def keep_time_until(settings: Settings, state: str) -> dict[str, Any]:
    """The clock as it tells the time before it is stopped."""
    stop = Signal()
    thread = Thread(target=keep_time, args=(settings, stop))
    thread.start()
    try:
        wait_until(lambda: read_clock_row(settings).get("state") == state, f"the clock is {state}")
        wait_until(lambda: read_heartbeat_ms(settings) is not None, "there is a heartbeat")
    finally:
        stop.set()
        thread.join()
    return read_clock_row(settings)


def test_a_world_that_begins_in_the_past_stands_until_something_is_imported(log: Settings) -> None:
    own = Settings(**{**log.model_dump(), **OWN})
    assert own.begins_ms == BEGINS_MS
    assert keep_time_until(own, "stopped")["world_at"].timestamp() * 1000 == BEGINS_MS
    assert read_heartbeat_ms(own) == BEGINS_MS - HOUR_MS
    Timekeeper(own).beat(BEGINS_MS + HOUR_MS)
    assert keep_time_until(own, "stopped")["world_at"].timestamp() * 1000 == BEGINS_MS + HOUR_MS


def test_without_a_beginning_the_time_is_the_walls(log: Settings) -> None:
    before = get_wall_ms()
    clock = keep_time_until(log.model_copy(update={"world": "own"}), "running")
    assert clock["speed_milli"] == 1_000
    assert before <= clock["world_at"].timestamp() * 1000 <= get_wall_ms()
    assert clock["world_at"] == clock["wall_at"]
    assert before - 120_000 < (read_heartbeat_ms(log) or 0) <= get_wall_ms()


def test_neither_world_goes_on_in_the_log_of_the_other(log: Settings) -> None:
    Timekeeper(log).stand(BEGINS_MS)
    refuse_other(log)
    with pytest.raises(OtherWorld, match="expected WORLD simulated"):
        simulate(log, Signal(), live=False)


def test_a_simulated_log_is_no_own_world(log: Settings) -> None:
    simulate(log, Signal(), live=False)
    with pytest.raises(OtherWorld, match="expected WORLD own"):
        refuse_other(log)
