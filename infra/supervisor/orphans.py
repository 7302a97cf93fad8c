"""Processes of a data folder that still run after a kill of their manager."""

import contextlib
import os
from pathlib import Path

import psutil

HOME_VARIABLE = "RETAIL_HOME"
"""The variable that names the data folder to every process of its manager."""
TRAINING_VARIABLE = "RETAIL_TRAINING_BESIDE"
"""The variable that names the data folder to a training run of Java beside its shop."""
GRACE_SECONDS_MAX = 8.0
KILL_SECONDS_MAX = 5.0


def find(home: Path, variable: str = HOME_VARIABLE) -> list[psutil.Process]:
    """Every process whose variable names the data folder, except this one and its parents."""
    ours = {process.pid for process in psutil.Process(os.getpid()).parents()} | {os.getpid()}
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in ours and is_of_folder(process, home, variable)
    ]


def is_of_folder(process: psutil.Process, home: Path, variable: str = HOME_VARIABLE) -> bool:
    """Whether the process's variable names the data folder. If HOME_VARIABLE does, its manager
    started the process, directly or not.
    """
    try:
        return process.environ().get(variable) == str(home)
    except (psutil.Error, OSError):
        return False  # it has ended, or belongs to another user


def stop(home: Path, variable: str = HOME_VARIABLE) -> int:
    """Stop the processes whose variable names the data folder. Returns their number."""
    running = find(home, variable)
    for process in running:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    _, stubborn = psutil.wait_procs(running, timeout=GRACE_SECONDS_MAX)
    # Include processes that started between the search and the end of their parent.
    stubborn += find(home, variable)
    for process in stubborn:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(stubborn, timeout=KILL_SECONDS_MAX)
    return len(running)
