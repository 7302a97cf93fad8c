from dataclasses import replace

from services.world import WorldClock

TEN_TIMES = WorldClock(world_at_ms=5_000, wall_at_ms=1_000, speed_milli=10_000, running=True)


def test_world_time_runs_at_its_speed_from_where_it_was_tied_to_the_wall_clock() -> None:
    assert TEN_TIMES.at(wall_ms=1_000) == 5_000
    assert TEN_TIMES.at(wall_ms=3_000) == 25_000


def test_a_stopped_world_stands_still() -> None:
    assert replace(TEN_TIMES, running=False).at(wall_ms=9_000) == 5_000
