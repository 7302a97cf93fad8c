"""The disk guard: it pauses the world while the disk is full."""

import logging
import time
from collections.abc import Callable
from threading import Event as Signal

LOOK_SECONDS = 5.0

log = logging.getLogger("simulator")


class DiskGuard:
    """Checks the free space every LOOK_SECONDS."""

    def __init__(self, stop: Signal, shortage: Callable[[], str | None]) -> None:
        """`shortage` returns what is lacking, in words; None if nothing is."""
        self._stop = stop
        self._shortage = shortage
        self._look_at = 0.0

    def has_room(self) -> bool:
        """Whether there was room at the last check."""
        if time.monotonic() < self._look_at:
            return True
        shortage = self._look()
        if shortage:
            log.warning("the world stands still: %s", shortage)
        return not shortage

    def wait(self) -> bool:
        """Wait for room. Returns False if the world is to stop first."""
        while not self._stop.wait(LOOK_SECONDS):
            if not self._look():
                log.info("the disk has room again: the world goes on")
                return True
        return False

    def _look(self) -> str | None:
        shortage = self._shortage()
        self._look_at = time.monotonic() + LOOK_SECONDS
        return shortage
