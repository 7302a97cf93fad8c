from dataclasses import replace

from generators.parameters import create_parameters
from generators.ticks import TICKS_PER_DAY
from infra.settings import Settings
from tests.generators.worlds import SMALL


def test_the_pace_is_no_part_of_the_world() -> None:
    slow, fast = Settings(simulator_speed=1.0), Settings(simulator_speed=500.0)
    assert create_parameters(slow) == create_parameters(fast)


def test_receipts_per_second_are_meant_at_the_default_speed() -> None:
    settings = Settings(simulator_receipts_per_second=20.0)
    wall_seconds_per_day = 24 * 3600 / Settings.model_fields["simulator_speed"].default
    assert (
        create_parameters(settings).receipts_per_minute * TICKS_PER_DAY
        == 20.0 * wall_seconds_per_day
    )


def test_two_worlds_are_told_apart_by_what_differs() -> None:
    other = replace(SMALL, seed=7)
    assert SMALL.find_differences(other.render()) == ("seed 1", "seed 7")
    assert SMALL.find_differences(SMALL.render()) == ("", "")
