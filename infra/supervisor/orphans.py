"""Processes of a data folder that still run after a kill of their manager."""

import contextlib
import os
from pathlib import Path

import psutil

HOME_VARIABLE = "RETAIL_HOME"
"""The variable that names the data folder to every process of its manager."""
GRACE_SECONDS_MAX = 8.0
KILL_SECONDS_MAX = 5.0


def find(home: Path) -> list[psutil.Process]:
    """Every process of the data folder, except this one and its parents."""
    ours = {process.pid for process in psutil.Process(os.getpid()).parents()} | {os.getpid()}
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in ours and is_of_folder(process, home)
    ]


def is_of_folder(process: psutil.Process, home: Path) -> bool:
    """Whether the data folder's manager started the process, directly or not."""
    try:
        return process.environ().get(HOME_VARIABLE) == str(home)
    except (psutil.Error, OSError):
        return False  # it has ended, or belongs to another user


def stop(home: Path) -> int:
    """Stop the processes of the data folder. Returns their number."""
    running = find(home)
    for process in running:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    _, stubborn = psutil.wait_procs(running, timeout=GRACE_SECONDS_MAX)
    # Include processes that started between the search and the end of their parent.
    stubborn += find(home)
    for process in stubborn:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(stubborn, timeout=KILL_SECONDS_MAX)
    return len(running)
