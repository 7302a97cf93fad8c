"""This process beside others: it ends with its parent, and yields to programs that answer
requests.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

NICENESS = 12
"""As in nice(1): what computes gets a fifteenth of a core that a program which answers wants."""


def give_way() -> None:
    """Yield to the API and the broker from now on; child processes do so too.

    The process still uses an idle core fully. A second call changes nothing.
    """
    os.nice(max(0, NICENESS - os.nice(0)))


def share_cores(leader: int) -> None:
    """Have the session of processes that `leader` leads compete for cores with our niceness.

    Linux can share the cores among sessions (autogroup), and then a niceness counts only within its
    session. Where it does not share them so, nothing changes.
    """
    with suppress(OSError):
        Path(f"/proc/{leader}/autogroup").write_text(str(os.nice(0)))


def end_with_parent() -> None:
    """End this process when nobody holds the other end of its standard input.

    Nobody writes to it. An engine that this process has started loses its driver, as after kill -9;
    the next run waits for the engine by the lease.
    """
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    sys.stdin.read()
    os._exit(0)
