"""The parts of the bench, one after the other; one that fails does not stop the next.

`python -m ops.bench.run PART SHARE FILE` is one part, as a process of its own. It appends each line
of its table to the file as soon as there is one.
"""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from infra.logs import tail
from infra.processes import build_environment
from infra.settings import Settings, read_settings
from infra.supervisor import daemon, orphans
from ops.bench.figures import Figure, render_figures

PART_SECONDS_MAX = 5_400.0
STOP_SECONDS_MAX = 60.0
LOG_LINES_SHOWN = 8
QUICK_SHARE = 0.1

Measure = Callable[[Settings, float], Iterator[Figure]]
"""Measures with the settings of an own folder, and the part of all days, records and seconds that
are measured: 1.0 or QUICK_SHARE.
"""


class Part(StrEnum):
    """In the order in which they run; each is a module of this name, with a `measure`."""

    LIVE = "live"
    HOUR = "hour"
    REPLAY = "replay"
    SYSTEMS = "systems"


def run(part: Part, settings: Settings, share: float) -> tuple[str, str | None]:
    """The part's table, as far as it came, and why it failed; None: it did not."""
    file, log = settings.data_dir / f"{part}.md", settings.data_dir / f"{part}.log"
    with log.open("wb") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "ops.bench.run", part.value, str(share), str(file)],
            env=build_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,  # an interrupt reaches it through `stop` alone, and once
        )
    failure = None
    try:
        if status := process.wait(PART_SECONDS_MAX):
            failure = f"It ended with status {status}:\n{tail(log, LOG_LINES_SHOWN)}"
    except subprocess.TimeoutExpired:
        failure = f"It should end within {PART_SECONDS_MAX:g} s, but did not."
    finally:
        stop(process, settings.data_dir)
    return file.read_text() if file.exists() else "", failure


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


def main() -> None:
    part, share, file = sys.argv[1:]
    measure: Measure = importlib.import_module(f"ops.bench.{part}").measure
    for line in render_figures(measure(read_settings(), float(share))):
        with Path(file).open("a") as lines:
            lines.write(f"{line}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # to stop its children
    main()
