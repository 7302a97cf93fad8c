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

BOOT = Path("/proc/sys/kernel/random/boot_id")
START_TICKS = 19
"""Where the third field, which follows the name, is the first: ticks from the machine's start to
the process's."""

Identity = dict[str, int | str]

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


def identify_process(pid: int) -> Identity:
    """What identifies a process: a pid may be reused, later or after another start of the machine.

    No wall clock is in it: a step of the clock would make it another process. Raises
    psutil.NoSuchProcess.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError) as error:
        raise psutil.NoSuchProcess(pid) from error
    after_name = status.rpartition(")")[2].split()  # a name may have blanks and brackets
    return {"pid": pid, "ticks": int(after_name[START_TICKS]), "boot": BOOT.read_text().strip()}


def await_end(before: Identity) -> None:
    """Wait for the Java process of the previous driver, and kill it if it does not end."""
    try:
        process = psutil.Process(int(before["pid"]))
        if identify_process(process.pid) == before:
            end_process(process)
    except psutil.NoSuchProcess:
        return


def end_process(process: psutil.Process) -> None:
    try:
        process.wait(GRACE_SECONDS)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(GRACE_SECONDS)
