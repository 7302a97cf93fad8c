"""The process of a service that follows Kafka until a signal stops it."""

import faulthandler
import signal
from collections.abc import Callable
from threading import Event, Thread

from infra.errors import UserError
from infra.kafka import KafkaDown, is_answering
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings

STILL_SECONDS_MAX = 120.0
"""Longer than any call into Kafka's client may take here. Several that fail one after the other may
take longer; a new start does no harm then."""


class Stop(Event):
    """Set by SIGTERM or SIGINT; ends a process that is stuck in a call.

    A call into Kafka's client that does not return keeps Python from its signals, too. A process
    that has not asked for `stop` for `still_seconds_max` therefore ends itself, with status 1 and
    the stacks of its threads in its log. What it had begun is aborted or repeated, as after any
    kill.
    """

    def __init__(self, still_seconds_max: float = STILL_SECONDS_MAX) -> None:
        super().__init__()
        self._still_seconds_max = still_seconds_max

    def listen(self) -> None:
        """Be set by the signals from now on. In the main thread only."""
        for number in (signal.SIGTERM, signal.SIGINT):
            # In a thread: the main one may hold the lock of the event.
            signal.signal(number, lambda *_: Thread(target=self.set).start())
        self.is_set()

    def is_set(self) -> bool:
        """Whether to stop. Asking shows that the process is not stuck."""
        faulthandler.dump_traceback_later(self._still_seconds_max, exit=True)
        return super().is_set()


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
