"""Locks that one process at a time holds."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.errors import UserError
from infra.wait import wait_for


class LockHeld(UserError):
    """Another process does what only one may do at a time."""

    def __init__(self, who: str, what: str, advice: str = "See which: make status") -> None:
        super().__init__(f"One {who} at a time may {what}, and another one does. {advice}")


@contextmanager
def lock_folder(
    folder: Path, otherwise: UserError, seconds_max: float = 0.0, *, shared: bool = False
) -> Iterator[None]:
    """Lock the folder; make it if it is missing. A shared lock keeps out only those that are not.

    Raises `otherwise` if another process holds the lock for longer than `seconds_max`. The lock is
    on the folder itself, so nothing has to be cleaned up; the kernel releases it when this process
    ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        if not wait_for(lambda: try_lock(handle, shared=shared), seconds_max):
            raise otherwise
        yield
    finally:
        os.close(handle)


def is_locked(place: Path) -> bool:
    """Whether a process holds the folder or the file; False for a missing one."""
    try:
        handle = os.open(place, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)


def try_lock(handle: int, *, shared: bool = False) -> bool:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
