"""This process among others: it ends with its parent, and gives way to programs that answer
requests.
"""

import os
import sys
from threading import Thread

NICENESS = 10
"""As in nice(1): when all want a core, this process gets a tenth of what another one gets."""


def give_way() -> None:
    """Give way to what answers (the API, the broker) from here on; child processes do so too.

    A core that nobody else wants is used as before. A second call changes nothing.
    """
    os.nice(max(0, NICENESS - os.nice(0)))


def end_with_parent() -> None:
    """End this process when nobody holds the other end of its standard input.

    Nobody writes there. An engine that this process has started loses its driver, as after kill -9;
    the next run waits for it by the lease.
    """
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    sys.stdin.read()
    os._exit(0)
