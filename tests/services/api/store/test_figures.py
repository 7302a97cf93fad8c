"""The rate of a pipeline, and histograms of durations."""

from math import inf

import pytest

from services.api.store.applier import Histogram
from services.api.store.marker import Marker
from services.api.store.materializer import MARKERS_MAX, WINDOW_SECONDS, Rate


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


@pytest.mark.parametrize("count", [MARKERS_MAX - 1, MARKERS_MAX, MARKERS_MAX + 1, 10 * MARKERS_MAX])
def test_of_many_markers_a_minute_the_last_ones_say_the_rate(count: int) -> None:
    measured = Measured()
    for at in range(count):
        measured.mark(WINDOW_SECONDS * at / count, 7 * at)
    assert measured.rate.measure_per_second() == pytest.approx(7 * count / WINDOW_SECONDS)


def test_a_duration_counts_in_its_bucket_and_in_all_longer_ones() -> None:
    histogram = Histogram()
    assert set(dict(histogram.cumulate()).values()) == {0}
    for seconds in (0.2, 0.25, 0.26, 3_600.0):
        histogram.add(seconds)
    counts = dict(histogram.cumulate())
    assert [counts[bound] for bound in (0.1, 0.25, 0.5, 60.0, inf)] == [0, 2, 3, 3, 4]
    assert histogram.sum_seconds == pytest.approx(3_600.71)
