"""A histogram of durations, written by one thread and read by any."""

from bisect import bisect_left
from itertools import accumulate
from math import inf

BOUNDS_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, inf)
"""The longest duration that each bucket holds."""


class Histogram:
    """The number of durations by their length, since the process started."""

    def __init__(self) -> None:
        self.sum_seconds = 0.0
        self._counts = [0] * len(BOUNDS_SECONDS)

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.sum_seconds += seconds

    def cumulate(self) -> list[tuple[float, int]]:
        """Each bound in seconds, with the number of durations up to it."""
        return list(zip(BOUNDS_SECONDS, accumulate(self._counts), strict=True))
