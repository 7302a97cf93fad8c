"""A world with a past, shared by the parts that need one."""

import subprocess
import sys
import time

from infra.processes import build_environment
from infra.settings import Settings

BACKFILL_SECONDS_MAX = 600


def select_history_folder(settings: Settings) -> Settings:
    """The same settings over the world with a past."""
    return settings.model_copy(update={"data_dir": settings.data_dir / "history"})


def fill(settings: Settings, days: int) -> float:
    """Publish the missing part of the world's first days; returns how many seconds it took.

    Nothing is missing once another part of the bench has done so. The broker has to run.
    """
    command = ["-m", "generators.simulator", "--backfill-days", str(days), "--stop-after-backfill"]
    began = time.monotonic()
    with (settings.data_dir / "backfill.log").open("ab") as log:
        subprocess.run(
            [sys.executable, *command],
            env=build_environment(settings),
            stdout=log,
            stderr=log,
            check=True,
            timeout=BACKFILL_SECONDS_MAX,
        )
    return time.monotonic() - began
