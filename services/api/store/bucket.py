"""A token bucket: so many at once, and then so many a second."""

from collections.abc import Callable
from time import monotonic


class Bucket:
    """It is full at first, holds `burst` at the most, and fills by `per_second`."""

    def __init__(
        self, burst: float, per_second: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = burst
        self._filled_at = clock()

    def take(self) -> float:
        """Take one; returns 0.0, or else the seconds until there is one to take."""
        now = self._clock()
        filled = (now - self._filled_at) * self._per_second
        self._left, self._filled_at = min(self._burst, self._left + filled), now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0
