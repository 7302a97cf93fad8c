"""The process of a service that follows Kafka until a signal stops it."""

import faulthandler
import os
import signal
from collections.abc import Callable
from threading import Event, Lock, Thread

from infra.errors import UserError
from infra.kafka import KafkaDown, is_answering
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings

STILL_SECONDS_MAX = 120.0
"""Longer than any call into Kafka's client may take here. Several that fail one after the other may
take longer; a new start does no harm then."""
GRACE_SECONDS = 7.0
"""Shorter than what docker compose and the supervisor allow."""


class Stop(Event):
    """Set by SIGTERM or SIGINT; ends a process that is stuck in a call.

    A call into Kafka's client that does not return keeps Python from its signals, too. The process
    therefore ends itself, with status 1 and the stacks of its threads in its log, when it has not
    asked for `stop` for `still_seconds_max`, and when it still runs `grace_seconds` after a signal.
    What it had begun is aborted or repeated, as after any kill.
    """

    def __init__(
        self, still_seconds_max: float = STILL_SECONDS_MAX, grace_seconds: float = GRACE_SECONDS
    ) -> None:
        super().__init__()
        self._still_seconds_max = still_seconds_max
        self._grace_seconds = grace_seconds
        self._arming = Lock()

    def listen(self) -> None:
        """Be set by the signals from now on. In the main thread only."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        # Written below Python: a handler would wait for the call that the main thread is in.
        signal.set_wakeup_fd(writing)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        Thread(target=self._wait_for_signal, args=[reading], daemon=True).start()
        self.is_set()

    def is_set(self) -> bool:
        """Whether to stop. Asking shows that the process is not stuck."""
        with self._arming:
            asked = super().is_set()
            if not asked:
                faulthandler.dump_traceback_later(self._still_seconds_max, exit=True)
            return asked

    def set(self) -> None:
        """Ask the process to stop; it has the time of grace for it."""
        with self._arming:
            super().set()
            faulthandler.dump_traceback_later(self._grace_seconds, exit=True)

    def _wait_for_signal(self, reading: int) -> None:
        os.read(reading, 1)
        self.set()


def run(name: str, work: Callable[[Settings, Event], None]) -> int:
    """Work until a signal arrives. Returns the exit status: 1 after a user error, which it logs."""
    log = set_up_logging(name)
    current = read_settings()
    stop = Stop()
    stop.listen()
    try:
        if not is_answering(current):
            raise KafkaDown(current.bootstrap_servers)
        work(current, stop)
    except UserError as error:
        log.error("%s", error)
        return 1
    return 0
