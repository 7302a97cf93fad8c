"""The parts of the bench, one after the other; one that fails does not stop the next."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from infra.logs import tail
from infra.processes import build_environment
from infra.settings import Settings
from infra.supervisor import daemon, orphans
from ops.bench.figures import Outcome
from ops.bench.part import read_figures
from ops.bench.scale import Scale

PART_SECONDS_MAX = 5_400.0
STOP_SECONDS_MAX = 60.0
LOG_LINES_SHOWN = 8


class Part(StrEnum):
    """In the order in which they run; each is a module of this name."""

    LIVE = "live"
    HOUR = "hour"
    STARTING = "starting"
    GROWTH = "growth"
    BACKFILL = "backfill"
    REPLAY = "replay"
    CONCURRENT_REPLAY = "concurrent_replay"
    SIZES = "sizes"
    SYSTEMS = "systems"
    FRESHNESS = "freshness"
    READS = "reads"
    PAGES = "pages"
    MEMORY = "memory"
    FAULTS = "faults"


def run(part: Part, settings: Settings, scale: Scale) -> Outcome:
    """The outcome of the part, also when it failed."""
    file, log = settings.data_dir / f"{part}.jsonl", settings.data_dir / f"{part}.log"
    began = time.monotonic()
    with log.open("wb") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "ops.bench.part", part.value, scale.name, str(file)],
            env=build_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,  # an interrupt reaches it through `stop` alone, and once
        )
    try:
        failure = explain_exit(process.wait(PART_SECONDS_MAX), log)
    except subprocess.TimeoutExpired:
        failure = f"It should end within {PART_SECONDS_MAX:g} s, but did not."
    finally:
        stop(process, settings.data_dir)
    return Outcome(part, read_figures(file), time.monotonic() - began, failure)


def explain_exit(status: int, log: Path) -> str | None:
    return None if status == 0 else f"It ended with status {status}:\n{tail(log, LOG_LINES_SHOWN)}"


def stop(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Stop everything: the part, its broker, and its shop."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS_MAX)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_SECONDS_MAX)
    for home in filter(Path.is_dir, folder.iterdir()):
        orphans.stop(home)
        daemon.clear(home)
