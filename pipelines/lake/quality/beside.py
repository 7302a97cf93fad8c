"""The checks beside the lake's batches: every few minutes, in a short process of their own.

Great Expectations takes 200 MB and seconds to import. A process gives the memory back, does not
delay a batch, and cannot end the lake.
"""

import logging
import subprocess
import sys
import time

from infra.checks import locate_quality, write_trouble
from infra.clock import get_wall_ms
from infra.lake import locate_folders, read_coverage
from infra.reports import locate_reports
from infra.settings import Settings

log = logging.getLogger("lake")

EVERY_SECONDS = 300.0
"""The wall time between the starts of two checks. The first begins with the first rows."""
SECONDS_MAX = 900.0
"""The longest that a check may take; its waits for a lock, the API and the lake are within."""
COMMAND = (sys.executable, "-m", "pipelines.lake.quality")


class Checker:
    """Starts the checks, one process at a time, and notes those that could not run."""

    def __init__(self, settings: Settings, command: tuple[str, ...] = COMMAND) -> None:
        self._settings = settings
        self._command = command
        self._running: subprocess.Popen[bytes] | None = None
        self._started: float | None = None

    def look(self) -> None:
        """To be called after each batch. It waits for nothing and raises nothing."""
        try:
            self._end_what_is_over()
            if self._running is None and self._is_due():
                self._started = time.monotonic()
                self._running = subprocess.Popen(self._command, stdin=subprocess.PIPE)
        except Exception as error:
            log.exception("the checks could not run; the lake goes on")
            self._note(f"{type(error).__name__}: {error}")

    def stop(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait()

    def _is_due(self) -> bool:
        if self._started is None:
            bronze = read_coverage(locate_folders(self._settings).bronze)
            return any(bronze.ends.values())
        return time.monotonic() - self._started >= EVERY_SECONDS

    def _end_what_is_over(self) -> None:
        if self._running is None:
            return
        code = self._running.poll()
        late = time.monotonic() - (self._started or 0.0) > SECONDS_MAX
        if code is None and not late:
            return
        if code is None:
            self._note(f"they took longer than {SECONDS_MAX:g} s and were ended")
        elif code:
            self._note(f"their process ended with code {code}: make logs COMPONENT=lake")
        self.stop()
        self._running = None

    def _note(self, trouble: str) -> None:
        folder = locate_quality(locate_reports(self._settings))
        try:
            write_trouble(folder, trouble, get_wall_ms())
        except OSError:
            log.exception("the failed checks could not be noted; the lake goes on")
