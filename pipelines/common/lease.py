"""One writer per generation: the process before is seen to be gone before the next one writes."""

import json
from pathlib import Path
from typing import TextIO

import psutil

from infra.errors import Trouble
from infra.lock import is_held, locked
from infra.wait import until

LEASE = "lease.json"
"""Locked by the process that runs the generation, as long as it does."""

GRACE_SECONDS = 15.0
"""How long a Java process may take to notice that its driver is gone."""

LOOK_SECONDS_MAX = 1.0
"""How long somebody may hold the lease who only looks whether it is taken."""


class LeaseHeld(Trouble):
    """Another process runs this generation."""

    def __init__(self, lease: Path) -> None:
        super().__init__(
            f"{lease.parent} should be run by one process, but another one runs it already. "
            "See which: make status"
        )


def take(folder: Path) -> TextIO:
    """Make this process the only one that runs the generation, and see its last engine out.

    The lease lasts as long as the returned file is open, which is to the process's end at the
    latest. An engine whose driver is gone is given time to end by itself, and then is ended.
    Raises LeaseHeld.
    """
    lease = folder / LEASE
    held = lease.open("a+")
    if not until(lambda: locked(held.fileno()), LOOK_SECONDS_MAX):
        held.close()
        raise LeaseHeld(lease)
    held.seek(0)
    if before := held.read():
        end(json.loads(before))
    return held


def is_taken(folder: Path) -> bool:
    """Whether a process runs the generation, or has not let go of its query."""
    return is_held(folder / LEASE)


def name_engine(held: TextIO, java_pid: int) -> None:
    """Leave word of the process that may outlive this one by a moment."""
    held.truncate(0)
    json.dump(identity(java_pid), held)
    held.flush()


def identity(pid: int) -> dict[str, float]:
    """A process beyond doubt: pids are given out again, with another start."""
    return {"pid": pid, "started": psutil.Process(pid).create_time()}


def end(before: dict[str, float]) -> None:
    """See the Java process of the driver before out."""
    try:
        process = psutil.Process(int(before["pid"]))
        if process.create_time() == before["started"]:
            end_process(process)
    except psutil.NoSuchProcess:
        return


def end_process(process: psutil.Process) -> None:
    try:
        process.wait(GRACE_SECONDS)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(GRACE_SECONDS)
