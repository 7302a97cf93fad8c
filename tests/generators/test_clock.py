import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import CLOCKS, decode, encode, model
from generators.clock import ClockState, WorldClock, speed_milli, wall_ms

NOON = WorldClock(world_ms=1_000_000, wall_ms=5_000, speed_milli=10_000)


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


@pytest.mark.parametrize(("speed", "milli"), [(10.0, 10_000), (0.5, 500), (0.0001, 1)])
def test_the_speed_is_held_in_thousandths(speed: float, milli: int) -> None:
    assert speed_milli(speed) == milli


def test_the_announced_clock_keeps_its_contract() -> None:
    event = WorldClock(1_772_438_400_000, wall_ms(), 10_000).event(1, ClockState.RUNNING)
    value = decode(encode(CLOCKS, event)).value
    model(CLOCKS).model_validate(value)
    assert value["state"] == "running"
