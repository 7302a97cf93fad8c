"""One command at a time changes what runs on a data folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.errors import Trouble


class Busy(Trouble):
    """Another command is at work on the same folder."""

    def __init__(self, home: Path, what: str) -> None:
        super().__init__(
            f"Another retail command is {what} {home}. Wait for it to end, then try again."
        )


@contextmanager
def alone(home: Path, what: str = "starting or stopping what runs on") -> Iterator[None]:
    """Hold the folder, which is made if it is missing; raises Busy.

    The folder itself is locked, so that nothing has to be cleaned up; the kernel lets go when
    this process ends.
    """
    home.mkdir(parents=True, exist_ok=True)
    handle = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Busy(home, what) from error
    else:
        yield
    finally:
        os.close(handle)
