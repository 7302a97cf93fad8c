"""Threads that live as long as the API does."""

import logging
import threading

RETRY_SECONDS_MIN = 0.1
RETRY_SECONDS_MAX = 5.0


class Background:
    """Work that a thread repeats until it is stopped.

    After an exception it logs it, keeps it in `trouble`, and retries.
    """

    def __init__(self, name: str, trouble: str | None = None) -> None:
        self.trouble = trouble
        """Why the work fails, or has not begun."""
        self.stopping = threading.Event()
        self._failing = False
        self._log = logging.getLogger(f"api.{type(self).__name__.lower()}")
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def run_once(self) -> None:
        """One round of the work. Returns soon after `stopping` is set."""
        raise NotImplementedError

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; `join` waits for it."""
        self.stopping.set()

    def join(self, seconds_max: float | None = None) -> None:
        """Wait until the thread has ended, at most so long; None means without a limit."""
        if self._thread.is_alive():
            self._thread.join(seconds_max)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def clear_trouble(self) -> None:
        """Note that the work succeeds."""
        self.trouble, self._failing = None, False

    def _run(self) -> None:
        pause = RETRY_SECONDS_MIN
        while not self.stopping.is_set():
            try:
                self.run_once()
            except Exception as error:
                pause = min(2 * pause, RETRY_SECONDS_MAX) if self._failing else RETRY_SECONDS_MIN
                self.trouble, self._failing = str(error), True
                name = self._thread.name
                self._log.warning("%s: %s; going on in %.1f s", name, error, pause)
                self._log.debug("%s", name, exc_info=True)
                self.stopping.wait(pause)
