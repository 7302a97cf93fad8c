"""A supervisor of pipelines as a process, and the workers below it."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from infra.processes import WORKER, find_engines, start_module
from infra.settings import Settings

STOP_SECONDS_MAX = 30.0


@contextmanager
def run_supervisor(settings: Settings, log: Path, code: Path | None = None) -> Iterator[int]:
    """Run a supervisor of the settings' pipelines in the block, as in a shop. Yields its process
    id.

    It creates new generations from this code, or from another copy.
    """
    process = start_module(settings, log, "pipelines.run", code=code)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)


def find_drivers(supervisor: int) -> dict[str, psutil.Process]:
    """The workers of a supervisor that have an engine, by PIPELINE/NUMBER of the generation."""
    by_name: dict[str, psutil.Process] = {}
    for engine in find_engines(supervisor):
        with contextlib.suppress(psutil.NoSuchProcess):
            driver = engine.parent()
            words = driver.cmdline() if driver else []
            if driver and WORKER in words:
                by_name |= dict.fromkeys(words[words.index(WORKER) + 1 :], driver)
    return by_name
