"""A histogram counts a duration in every bucket that is long enough."""

from math import inf

import pytest

from services.api.store.applier import BOUNDS_SECONDS, Histogram


def test_a_duration_counts_in_its_bucket_and_in_all_longer_ones() -> None:
    histogram = Histogram()
    for seconds in (0.2, 0.25, 0.26, 3_600.0):
        histogram.add(seconds)
    counts = dict(histogram.cumulate())
    assert [counts[bound] for bound in (0.1, 0.25, 0.5, 60.0, inf)] == [0, 2, 3, 3, 4]
    assert histogram.sum_seconds == pytest.approx(3_600.71)


def test_an_empty_histogram_has_every_bucket() -> None:
    assert Histogram().cumulate() == [(bound, 0) for bound in BOUNDS_SECONDS]
