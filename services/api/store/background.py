"""Threads that live as long as the API does."""

import logging
import threading
from time import monotonic

RETRY_SECONDS_MIN = 0.1
RETRY_SECONDS_MAX = 5.0


class Background:
    """Work that a thread repeats until it is stopped.

    After an exception it logs it, keeps it in `trouble`, and retries.
    """

    def __init__(self, name: str, trouble: str | None = None) -> None:
        self.name = name
        self.trouble = trouble
        """Why the work fails, or has not begun."""
        self.is_failing = False
        """Whether it has failed since it last succeeded."""
        self.stopping = threading.Event()
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
        self.trouble, self.is_failing = None, False

    def _run(self) -> None:
        pause = 0.0
        while not self.stopping.is_set():
            began = monotonic()
            try:
                self.run_once()
            except Exception as error:
                if monotonic() - began > RETRY_SECONDS_MAX:  # it has worked for a while
                    pause = 0.0
                pause = min(max(RETRY_SECONDS_MIN, 2 * pause), RETRY_SECONDS_MAX)
                self.trouble, self.is_failing = str(error), True
                self._log.warning("%s: %s; going on in %.1f s", self.name, error, pause)
                self._log.debug("%s", self.name, exc_info=True)
                self.stopping.wait(pause)


def render_cause(trouble: str | None) -> str:
    """The trouble in brackets, to end a sentence with; empty where there is none."""
    return f" ({trouble})" if trouble else ""
