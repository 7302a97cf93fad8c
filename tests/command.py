"""The command `retail`, run in a process of its own as a user runs it."""

import subprocess
import sys

from infra.processes import build_environment
from infra.settings import Settings

SECONDS_MAX = 120.0


def run_command(
    settings: Settings, *words: object, seconds_max: float = SECONDS_MAX
) -> "subprocess.CompletedProcess[str]":
    """What the command prints, and its status; raises TimeoutExpired."""
    return subprocess.run(
        [sys.executable, "-m", "ops.cli.main", *map(str, words)],
        env=build_environment(settings),
        capture_output=True,
        text=True,
        timeout=seconds_max,
        check=False,
    )
