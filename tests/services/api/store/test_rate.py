from dataclasses import replace

from services.api.store.marker import Marker
from services.api.store.rate import WINDOW_SECONDS, Rate

MARKER = Marker("inventory", 1, 0, {("sales", 0): 0}, {}, 0, 0)


def marker(read: int) -> Marker:
    return replace(MARKER, inputs={("sales", 0): read})


class Clock:
    now = 0.0


def test_the_rate_is_what_was_read_since_the_oldest_marker_of_the_last_minute() -> None:
    clock = Clock()
    rate = Rate(lambda: clock.now)
    rate.add(marker(1_000))
    assert rate.per_second() is None
    clock.now = 10.0
    rate.add(marker(1_200))
    assert rate.per_second() == 20.0


def test_without_markers_for_a_minute_nothing_moves() -> None:
    clock = Clock()
    rate = Rate(lambda: clock.now)
    rate.add(marker(1))
    rate.add(marker(2))
    clock.now = WINDOW_SECONDS + 1
    assert rate.per_second() == 0.0
