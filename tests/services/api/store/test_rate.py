from dataclasses import replace

import pytest

from services.api.store.marker import Marker
from services.api.store.materializer import MARKERS_MAX, WINDOW_SECONDS, Rate

MARKER = Marker("inventory", 1, 0, {("sales", 0): 0}, {}, 0, 0)


def create_marker(read: int) -> Marker:
    return replace(MARKER, inputs={("sales", 0): read})


class Clock:
    now = 0.0


def test_the_rate_is_what_was_read_since_the_oldest_marker_of_the_last_minute() -> None:
    clock = Clock()
    rate = Rate(lambda: clock.now)
    rate.add(create_marker(1_000))
    assert rate.measure_per_second() is None
    clock.now = 10.0
    rate.add(create_marker(1_200))
    assert rate.measure_per_second() == 20.0


def test_without_markers_for_a_minute_nothing_moves() -> None:
    clock = Clock()
    rate = Rate(lambda: clock.now)
    rate.add(create_marker(1))
    rate.add(create_marker(2))
    clock.now = WINDOW_SECONDS + 1
    assert rate.measure_per_second() == 0.0


@pytest.mark.parametrize("count", [MARKERS_MAX - 1, MARKERS_MAX, MARKERS_MAX + 1, 10 * MARKERS_MAX])
def test_of_many_markers_a_minute_the_last_ones_say_the_rate(count: int) -> None:
    clock = Clock()
    rate = Rate(lambda: clock.now)
    for number in range(count):
        clock.now = WINDOW_SECONDS * number / count
        rate.add(create_marker(7 * number))
    assert rate.measure_per_second() == pytest.approx(7 * count / WINDOW_SECONDS)
