"""The rate of a pipeline, from its markers."""

from collections import deque
from collections.abc import Callable
from time import monotonic

from services.api.store.marker import Marker

WINDOW_SECONDS = 60.0
MARKERS_MAX = 1_024


class Rate:
    """Input records per second of wall time over the last minute."""

    def __init__(self, moment: Callable[[], float] = monotonic) -> None:
        self._moment = moment
        self._markers: deque[tuple[float, int]] = deque(maxlen=MARKERS_MAX)

    def add(self, marker: Marker) -> None:
        self._markers.append((self._moment(), sum(marker.inputs.values())))

    def measure_per_second(self) -> float | None:
        """The rate; None until this process has seen two markers."""
        markers = tuple(self._markers)
        if len(markers) < 2:
            return None
        now = self._moment()
        recent = [each for each in markers if each[0] >= now - WINDOW_SECONDS]
        if not recent:
            return 0.0
        first_at, first_total = recent[0]
        return (markers[-1][1] - first_total) / max(now - first_at, 0.001)
