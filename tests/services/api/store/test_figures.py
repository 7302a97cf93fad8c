"""The rate of a pipeline."""

from services.api.store.marker import Marker
from services.api.store.materializer import WINDOW_SECONDS, Rate


def create_marker(read: int) -> Marker:
    """A marker that covers so many records."""
    return Marker("inventory", 1, 0, {("sales", 0): read}, {}, 0, 0)


def test_the_rate_is_what_was_read_since_the_oldest_marker_of_the_last_minute() -> None:
    now = 0.0
    rate = Rate(lambda: now)
    rate.add(create_marker(1_000))
    assert rate.measure_per_second() is None
    now = 10.0
    rate.add(create_marker(1_200))
    assert rate.measure_per_second() == 20.0
    now = 10.0 + WINDOW_SECONDS + 1
    assert rate.measure_per_second() == 0.0, "without markers for a minute nothing moves"
