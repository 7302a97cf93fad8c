"""Processes of a data folder that run without their manager, after it was killed."""

import contextlib
import os
from pathlib import Path

import psutil

HOME_VARIABLE = "RETAIL_HOME"
GRACE_SECONDS_MAX = 8.0
KILL_SECONDS_MAX = 5.0


def find(home: Path) -> list[psutil.Process]:
    """Every process whose environment names the data folder, but this one and its callers."""
    ours = {process.pid for process in psutil.Process(os.getpid()).parents()} | {os.getpid()}
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in ours and belongs(process, home)
    ]


def belongs(process: psutil.Process, home: Path) -> bool:
    """Whether the process was started, directly or not, by the data folder's manager."""
    try:
        return process.environ().get(HOME_VARIABLE) == str(home)
    except (psutil.Error, OSError):
        return False  # gone meanwhile, or somebody else's


def stop(home: Path) -> int:
    """Stop what is left of the data folder's processes; returns how many there were."""
    found = find(home)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    _, stubborn = psutil.wait_procs(found, timeout=GRACE_SECONDS_MAX)
    # Whatever was started between the search and the end of its parent is found now.
    stubborn += find(home)
    for process in stubborn:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(stubborn, timeout=KILL_SECONDS_MAX)
    return len(found)
