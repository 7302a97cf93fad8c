"""One process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.errors import Trouble


@contextmanager
def held(folder: Path, otherwise: Trouble) -> Iterator[None]:
    """Hold the folder, which is made if it is missing; raises the trouble if another process does.

    The folder itself is locked, so that nothing has to be cleaned up; the kernel lets go when
    this process ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise otherwise from error
    else:
        yield
    finally:
        os.close(handle)
