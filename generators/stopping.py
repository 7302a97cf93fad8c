"""Lets a program work until it is asked to stop."""

import signal
from threading import Event as Signal
from threading import Thread


def catch_stop() -> Signal:
    """A signal that is set when the process is asked to stop, by SIGTERM or Ctrl-C."""
    stop = Signal()
    for number in (signal.SIGTERM, signal.SIGINT):
        # In a thread: the signal may interrupt the very wait whose lock `set` needs.
        signal.signal(number, lambda *_: Thread(target=stop.set).start())
    return stop
