"""The rate of a pipeline, and histograms of durations."""

from services.api.store.marker import Marker
from services.api.store.materializer import WINDOW_SECONDS, Rate


class Measured:
    """A rate, by a clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.rate = Rate(lambda: self.seconds)

    def mark(self, at_seconds: float, read: int) -> None:
        """A marker that covers so many records."""
        self.seconds = at_seconds
        self.rate.add(Marker("inventory", 1, 0, {("sales", 0): read}, {}, 0, 0))


def test_the_rate_is_what_was_read_since_the_oldest_marker_of_the_last_minute() -> None:
    measured = Measured()
    measured.mark(0.0, 1_000)
    assert measured.rate.measure_per_second() is None
    measured.mark(10.0, 1_200)
    assert measured.rate.measure_per_second() == 20.0
    measured.seconds = 10.0 + WINDOW_SECONDS + 1
    assert measured.rate.measure_per_second() == 0.0, "without markers for a minute nothing moves"
