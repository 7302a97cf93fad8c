from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import CLOCKS, decode, encode, model
from control.world_clock import AnnouncedClock, ClockState, WorldClock

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
    model(CLOCKS).model_validate(value)
    assert value["state"] == state.value
    assert AnnouncedClock.parse(value) == announced
