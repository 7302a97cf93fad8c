from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from contracts import CLOCKS, Row, build_model, decode, encode, encode_key
from infra.kafka import read_between
from infra.settings import Settings
from ops.control import reading
from ops.control.world_clock import (
    AHEAD_MS_MAX,
    BEHIND_MS_MAX,
    CLOCKS_READ_MAX,
    HEARTBEAT_MS,
    WORLD,
    AnnouncedClock,
    ClockState,
    WorldClock,
    choose_beat_ms,
    read_clock,
)
from tests.brokers import get_producer

NOON = WorldClock(world_ms=1_000_000, wall_ms=5_000, speed_milli=10_000)
ANNOUNCED = AnnouncedClock(NOON, ClockState.RUNNING, seed=1)


@given(st.integers(-(10**12), 10**12), st.integers(1, 100_000_000))
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
@pytest.mark.parametrize("told_ms", [-(10**14), 0, 10**13, 253_370_764_800_000])
def test_a_clock_is_bounded_by_the_last_heartbeat(state: ClockState, told_ms: int) -> None:
    beat_ms = 1_772_438_400_000
    told = AnnouncedClock(WorldClock(told_ms, 1_790_000_000_000, 1_000), state, 1, beat_ms)
    latest_ms = beat_ms + AHEAD_MS_MAX + 2 * HEARTBEAT_MS + BEHIND_MS_MAX
    assert beat_ms <= told.world_at(1_790_000_000_000) <= latest_ms
    assert beat_ms <= told.world_at(1_890_000_000_000) <= latest_ms


@pytest.mark.parametrize("ahead_ms", [AHEAD_MS_MAX - 1, AHEAD_MS_MAX, AHEAD_MS_MAX + 1, 10**12])
def test_a_clock_ahead_of_the_last_heartbeat_counts_up_to_a_bound(ahead_ms: int) -> None:
    told = AnnouncedClock(WorldClock(ahead_ms, 5_000, 1_000), ClockState.STOPPED, 1, beat_ms=0)
    latest_ms = AHEAD_MS_MAX + 2 * HEARTBEAT_MS + BEHIND_MS_MAX
    assert told.world_at(5_000) == min(ahead_ms, latest_ms)


@pytest.mark.parametrize("far_ms", [1, 10**13, 253_370_764_800_000])
def test_a_heartbeat_of_another_time_is_not_the_worlds(far_ms: int) -> None:
    beats = [1_772_438_400_000 + minute * HEARTBEAT_MS for minute in range(5)]
    for place in range(len(beats) + 1):
        beaten = choose_beat_ms([*beats[:place], far_ms, *beats[place:]])
        assert beaten == beats[-1], place


@pytest.mark.parametrize("state", ClockState)
def test_a_clock_keeps_its_contract_and_is_read_as_it_was_written(state: ClockState) -> None:
    announced = AnnouncedClock(WorldClock(1_772_438_400_000, 1_790_000_000_000, 10_000), state, 1)
    value = decode(encode(CLOCKS, announced.to_row())).value
    build_model(CLOCKS).model_validate(value)
    assert value["state"] == state.value
    assert AnnouncedClock.parse(value) == announced


@pytest.mark.e2e
def test_of_however_many_clocks_the_newest_is_read_and_no_more_than_the_last_ones(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []

    def note_starts(*asked: Any) -> Iterator[Message]:
        starts.extend(asked[1].values())
        return read_between(*asked)

    monkeypatch.setattr(reading, "read_between", note_starts)
    client, published = get_producer(kafka), 0
    clock = encode_key(CLOCKS, {"world": WORLD})
    row: Row = ANNOUNCED.to_row()
    for size in (CLOCKS_READ_MAX - 1, CLOCKS_READ_MAX, CLOCKS_READ_MAX + 1, 10 * CLOCKS_READ_MAX):
        while published < size:
            client.poll(0)
            value = encode(CLOCKS, {**row, "speed_milli": published + 1})
            client.produce(CLOCKS.name, key=clock, value=value)
            published += 1
        client.flush(30)
        newest = read_clock(kafka)
        assert newest is not None
        assert newest.clock.speed_milli == size
        assert (starts[-1] == 0) == (size <= CLOCKS_READ_MAX)
