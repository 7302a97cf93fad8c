"""Programs of this project: their environment, and the processes that they start."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from infra.settings import Settings, locate_root

WORKER = "pipelines.engine.worker"
"""The module that runs generations: `python -m WORKER PIPELINE/NUMBER …`.

WORKER and BOUNDED are a protocol: today's code starts them by name in the snapshot of an older
generation. A snapshot without a module of this name cannot run, so a rename requires a replay of
every pipeline. The protocol includes the arguments, the settings in the environment, standard input
that closes when the parent ends, and `span.json` in the folder of BOUNDED.
"""

BOUNDED = "pipelines.engine.bounded"
"""The module that computes a pipeline's rows between offsets: `python -m BOUNDED PIPELINE FOLDER`.
"""


def build_environment(settings: Settings, code: Path | None = None) -> dict[str, str]:
    """The environment of a program with these settings, run from this code or another copy."""
    named = settings.model_dump(mode="json", exclude_none=True)
    variables = {name.upper(): str(value) for name, value in named.items()}
    return {**os.environ, **variables, "PYTHONPATH": str(code or locate_root())}


def start_module(
    settings: Settings, log: Path, module: str, *words: str, code: Path | None = None
) -> "subprocess.Popen[bytes]":
    """Start `python -m MODULE WORDS` with these settings, from this code or another copy.

    It appends its output to the log.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module, *words],
            cwd=code,
            env=build_environment(settings, code),
            stdout=output,
            stderr=output,
        )


def capture(
    command: Sequence[str], seconds_max: float, cwd: Path, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command in the folder `cwd` to its end, and capture its output.

    `env`: its environment; None: that of this process. Raises subprocess.TimeoutExpired.
    """
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=seconds_max, check=False
    )


def find_engines(pid: int) -> list[psutil.Process]:
    """The Java processes below a process; some may start or end meanwhile."""
    return [each for each in list_descendants(pid) if get_name(each) == "java"]


def list_descendants(pid: int) -> list[psutil.Process]:
    """All descendants of the process; empty if it has ended."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def get_name(process: psutil.Process) -> str:
    """The name of the process's program; empty if it has ended."""
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""
