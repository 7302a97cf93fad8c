"""A token bucket: a burst at once, and then a rate per second."""

from collections.abc import Callable
from time import monotonic


class Bucket:
    """It starts full, holds at most `burst` tokens, and gains `per_second`."""

    def __init__(
        self, burst: float, per_second: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = burst
        self._filled_at = clock()

    def take(self) -> float:
        """Take a token and return 0.0; without one, return the seconds until there is one."""
        now = self._clock()
        filled = (now - self._filled_at) * self._per_second
        self._left, self._filled_at = min(self._burst, self._left + filled), now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0
