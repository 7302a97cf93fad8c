from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import CLOCKS, Row, build_model, decode, encode, encode_key
from control import world_clock
from control.world_clock import (
    CLOCKS_READ_MAX,
    WORLD,
    AnnouncedClock,
    ClockState,
    WorldClock,
    read_clock,
)
from infra.kafka import read_to_end
from infra.settings import Settings
from tests.brokers import get_producer

NOON = WorldClock(world_ms=1_000_000, wall_ms=5_000, speed_milli=10_000)
ANNOUNCED = AnnouncedClock(NOON, ClockState.RUNNING, seed=1)


def test_world_time_runs_with_the_speed() -> None:
    assert NOON.world_at(5_000) == 1_000_000
    assert NOON.world_at(6_000) == 1_010_000


@given(
    st.integers(-(10**12), 10**12),
    st.integers(1, 100_000_000),
)
def test_a_world_moment_has_come_at_its_wall_time_and_not_before(ahead_ms: int, speed: int) -> None:
    clock = WorldClock(1_772_438_400_000, 1_790_000_000_000, speed)
    moment_ms = clock.world_ms + ahead_ms
    wall = clock.wall_at(moment_ms)
    assert clock.world_at(wall) >= moment_ms
    assert clock.world_at(wall - 1) < moment_ms


def test_world_time_runs_at_its_speed_from_where_it_was_tied_to_the_wall_clock() -> None:
    assert ANNOUNCED.world_at(wall_ms=5_000) == 1_000_000
    assert ANNOUNCED.world_at(wall_ms=7_000) == 1_020_000


def test_a_stopped_world_stands_still() -> None:
    assert replace(ANNOUNCED, state=ClockState.STOPPED).world_at(wall_ms=9_000) == 1_000_000


@pytest.mark.parametrize("state", ClockState)
def test_the_announced_clock_keeps_its_contract_and_is_read_as_it_was_written(
    state: ClockState,
) -> None:
    announced = AnnouncedClock(WorldClock(1_772_438_400_000, 1_790_000_000_000, 10_000), state, 1)
    value = decode(encode(CLOCKS, announced.to_row())).value
    build_model(CLOCKS).model_validate(value)
    assert value["state"] == state.value
    assert AnnouncedClock.parse(value) == announced


@pytest.mark.e2e
@pytest.mark.crosses("control/world_clock/CLOCKS_READ_MAX")
def test_of_however_many_clocks_the_newest_is_read_and_no_more_than_the_last_ones(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[dict[bytes, bytes]] = []

    def keep_what_is_read(*asked: Any, **limits: Any) -> dict[bytes, bytes]:
        read.append(read_to_end(*asked, **limits))
        return read[-1]

    monkeypatch.setattr(world_clock, "read_to_end", keep_what_is_read)
    client, published = get_producer(kafka), 0
    oldest, clock = b"another key, of the first record alone", encode_key(CLOCKS, {"world": WORLD})
    row: Row = ANNOUNCED.to_row()
    for size in (CLOCKS_READ_MAX - 1, CLOCKS_READ_MAX, CLOCKS_READ_MAX + 1, 10 * CLOCKS_READ_MAX):
        while published < size:
            client.poll(0)
            value = encode(CLOCKS, {**row, "speed_milli": published + 1})
            client.produce(CLOCKS.name, key=clock if published else oldest, value=value)
            published += 1
        client.flush(30)
        newest = read_clock(kafka)
        assert newest is not None
        assert newest.clock.speed_milli == size
        assert (oldest in read[-1]) == (size <= CLOCKS_READ_MAX)
