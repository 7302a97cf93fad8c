"""The parts of the bench, one after the other; one that fails does not stop the next.

`python -m ops.bench.run PART SCALE FILE` is one part, as a process of its own. It appends each
figure to the file, as a line of JSON, as soon as there is one.
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

from pydantic import TypeAdapter

from infra.logs import tail
from infra.processes import build_environment
from infra.settings import Settings, read_settings
from infra.supervisor import daemon, orphans
from ops.bench.figures import FULL, QUICK, Figure, Outcome, Scale, describe_machine

PART_SECONDS_MAX = 5_400.0
STOP_SECONDS_MAX = 60.0
LOG_LINES_SHOWN = 8

FIGURE = TypeAdapter(Figure)
SCALES = {scale.name: scale for scale in (FULL, QUICK)}

Measure = Callable[[Settings, Scale], Iterator[Figure]]


class Part(StrEnum):
    """In the order in which they run; each is a module of this name, with a `measure`."""

    LIVE = "live"
    HOUR = "hour"
    REPLAY = "replay"
    SYSTEMS = "systems"


def run(part: Part, settings: Settings, scale: Scale) -> Outcome:
    """The outcome of the part, also when it failed."""
    file, log = settings.data_dir / f"{part}.jsonl", settings.data_dir / f"{part}.log"
    machine = describe_machine()
    with log.open("wb") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "ops.bench.run", part.value, scale.name, str(file)],
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
    lines = file.read_bytes().splitlines() if file.exists() else []
    figures = tuple(FIGURE.validate_json(line) for line in lines)
    return Outcome(machine, scale.name, figures, failure)


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
    part, scale, file = sys.argv[1:]
    measure: Measure = importlib.import_module(f"ops.bench.{part}").measure
    for figure in measure(read_settings(), SCALES[scale]):
        with Path(file).open("ab") as figures:
            figures.write(FIGURE.dump_json(figure) + b"\n")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # to stop its children
    main()
