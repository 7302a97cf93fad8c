"""The lease: one writer per generation. The next writer starts once the previous one has ended."""

import json
from pathlib import Path
from typing import TextIO

import psutil

from infra.lock import LockHeld, is_locked, try_lock
from infra.wait import wait_for

LEASE = "lease.json"
"""The file that the generation's process keeps locked while it runs."""

GRACE_SECONDS = 15.0
"""The time in which a Java process has to notice that its driver is gone."""

LOOK_SECONDS_MAX = 1.0
"""The time for which a process that only checks may hold the lease."""


def take(folder: Path) -> TextIO:
    """Make this process the generation's only writer, and wait for the previous one's engine to
    end.

    The lease lasts as long as the returned file is open, at the latest until the process ends. An
    engine without a driver is given time to end, and then killed. Raises LockHeld.
    """
    lease = folder / LEASE
    file = lease.open("a+")
    if not wait_for(lambda: try_lock(file.fileno()), LOOK_SECONDS_MAX):
        file.close()
        raise LockHeld("process", f"run {folder}")
    file.seek(0)
    if before := file.read():
        await_end(json.loads(before))
    return file


def is_taken(folder: Path) -> bool:
    """Whether a process runs the generation, or an engine still runs its query."""
    return is_locked(folder / LEASE)


def record_engine(file: TextIO, java_pid: int) -> None:
    """Record the Java process, which may outlive this process for a moment."""
    file.truncate(0)
    json.dump(identify_process(java_pid), file)
    file.flush()


def identify_process(pid: int) -> dict[str, float]:
    """What identifies a process: a pid may be reused, with another start time."""
    return {"pid": pid, "started": psutil.Process(pid).create_time()}


def await_end(before: dict[str, float]) -> None:
    """Wait for the Java process of the previous driver, and kill it if it does not end."""
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
