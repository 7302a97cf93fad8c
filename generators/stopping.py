"""Lets a program work until it is asked to stop."""

import logging
import signal
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings


def catch_stop() -> Signal:
    """A signal that is set when the process is asked to stop, by SIGTERM or Ctrl-C."""
    stop = Signal()
    for number in (signal.SIGTERM, signal.SIGINT):
        # In a thread: the signal may interrupt the very wait whose lock `set` needs.
        signal.signal(number, lambda *_: Thread(target=stop.set).start())
    return stop


def work_until_stopped(name: str, work: Callable[[Settings, Signal], None]) -> int:
    """Run a program of that name in the logs. Returns its exit status."""
    set_up_logging(name)
    try:
        work(read_settings(), catch_stop())
    except UserError as error:
        logging.getLogger(name).error("%s", error)
        return 1
    return 0
