import pytest

from generators.clock import to_speed_milli


@pytest.mark.parametrize(("speed", "milli"), [(10.0, 10_000), (0.5, 500), (0.0001, 1)])
def test_the_speed_is_held_in_thousandths(speed: float, milli: int) -> None:
    assert to_speed_milli(speed) == milli
