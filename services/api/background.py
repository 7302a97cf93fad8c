"""Threads that live as long as the API does."""

import logging
import threading

RETRY_SECONDS_MIN = 0.1
RETRY_SECONDS_MAX = 5.0


class Background:
    """Work that a thread does again and again until it is told to stop.

    Whatever goes wrong is logged, kept in `trouble`, and tried again.
    """

    def __init__(self, name: str, trouble: str | None = None) -> None:
        self.trouble = trouble
        """Why the work is not done, or is not done yet."""
        self.stopping = threading.Event()
        self._failing = False
        self._log = logging.getLogger(f"api.{type(self).__name__.lower()}")
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def turn(self) -> None:
        """One turn of it; it returns soon after `stopping` is set."""
        raise NotImplementedError

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; `join` waits until it has."""
        self.stopping.set()

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def well(self) -> None:
        """Say that the work is being done."""
        self.trouble, self._failing = None, False

    def _run(self) -> None:
        pause = RETRY_SECONDS_MIN
        while not self.stopping.is_set():
            try:
                self.turn()
            except Exception as error:
                pause = min(2 * pause, RETRY_SECONDS_MAX) if self._failing else RETRY_SECONDS_MIN
                self.trouble, self._failing = str(error), True
                name = self._thread.name
                self._log.warning("%s: %s; going on in %.1f s", name, error, pause)
                self._log.debug("%s", name, exc_info=True)
                self.stopping.wait(pause)
