"""This process, beside others: it ends with its parent, and lets programs that answer go first."""

import os
import sys
from threading import Thread

NICENESS = 10
"""As in nice(1): where all want a core, this process gets a tenth of what another one gets."""


def give_way() -> None:
    """Let what answers (the API, the broker) go first from here on; child processes do so too.

    A core that nobody else wants is used as before. A second call changes nothing.
    """
    os.nice(max(0, NICENESS - os.nice(0)))


def end_with_parent() -> None:
    """End this process when nobody holds the other end of its input any more.

    Nobody writes there. An engine that this process has started sees its driver gone, as after
    kill -9; the next run's lease sees it out.
    """
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    sys.stdin.read()
    os._exit(0)
