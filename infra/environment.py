"""The environment that everything else runs in: hash-locked, complete, or not there.

Standard library only: it runs before anything is installed.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import tomllib
import venv
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("VENV") or ROOT / ".venv").absolute()
LOCK = ROOT / "requirements.lock"
STAMP = ".complete"
BAR_WIDTH = 20
TAIL_LINES = 12


class Broken(Exception):
    """The environment could not be made; the text says what to do."""


def ensure(folder: Path) -> None:
    """The environment, complete and as the lock says; made anew where it is not."""
    wanted = digest(folder)
    if stamped(folder) == wanted:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        if stamped(folder) != wanted:  # another command may have made it while this one waited
            make(folder)
            (folder / STAMP).write_text(wanted)


def digest(folder: Path) -> str:
    """What an environment was made of: Python, place, locked packages, this project's entry."""
    parts = [
        sys.version.encode(),
        str(folder).encode(),  # scripts hold absolute paths: a moved folder needs new ones
        LOCK.read_bytes(),
        entry_points(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def entry_points() -> bytes:
    """The part of pyproject.toml that an installation depends on: not the linter's."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = [declared["project"], declared["build-system"], declared["tool"]["hatch"]]
    return json.dumps(installed, sort_keys=True).encode()


def stamped(folder: Path) -> str:
    """The digest that the environment was completed for; empty if it never was."""
    try:
        return (folder / STAMP).read_text()
    except OSError:
        return ""


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the environment for oneself; the kernel lets go when the process ends."""
    with folder.with_name(folder.name + ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make(folder: Path) -> None:
    started = time.monotonic()
    check_modules()
    progress("making it anew, from requirements.lock")
    # The stamp goes first and comes last: an interrupted installation is made anew.
    (folder / STAMP).unlink(missing_ok=True)
    venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(folder)
    packages = install(folder, ["--require-hashes", "-r", str(LOCK)], locked(LOCK))
    install(folder, ["--no-build-isolation", "--no-deps", "--no-index", "-e", str(ROOT)], 1)
    step(f"{'█' * BAR_WIDTH} {packages} packages", time.monotonic() - started)


def check_modules() -> None:
    """Debian and Ubuntu ship Python without the module that puts pip into an environment."""
    try:
        import ensurepip  # noqa: F401
    except ImportError as error:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise Broken(
            f"Python {version} ({sys.executable}) cannot make environments: "
            "its module ensurepip is missing.\n"
            f"Install it: sudo apt-get install python{version}-venv"
        ) from error


def locked(lock: Path) -> int:
    """How many packages the lock names, at most: some are for other systems."""
    return len(re.findall(r"^[A-Za-z0-9]", lock.read_text(), flags=re.MULTILINE))


def install(folder: Path, arguments: list[str], expected: int) -> int:
    """Run pip, showing how far it is; returns the number of packages it looked at."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", *arguments]
    if not sys.dont_write_bytecode:
        command.append("--no-compile")  # what is imported is compiled then: a small part of all
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--no-input", "--progress-bar=off"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    ) as pip:
        assert pip.stdout is not None
        collected, tail = follow(pip.stdout, expected)
    if pip.returncode != 0:
        raise Broken(
            "The environment could not be installed: pip says\n  "
            + "\n  ".join(tail)
            + "\nNothing half-made is used. Check the network, then run the same command again."
        )
    return collected


def follow(output: Iterable[str], expected: int) -> tuple[int, list[str]]:
    """Turn pip's lines into a bar; returns how many packages, and the last lines."""
    collected = 0
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    for line in output:
        tail.append(line.rstrip())
        collected += line.startswith("Collecting ")
        done = min(BAR_WIDTH, BAR_WIDTH * collected // expected)
        what = "installing" if line.startswith("Installing ") else f"{collected} packages"
        progress(f"{'█' * done}{'░' * (BAR_WIDTH - done)} {what}")
    return collected, list(tail)


def progress(text: str) -> None:
    """Show what is being waited for, on a terminal only."""
    if sys.stdout.isatty():
        print(f"\r  {'environment':<13} {text:<50}", end="", flush=True)


def step(text: str, seconds: float) -> None:
    """The line that stays: what was done, and how long it took."""
    start = "\r" if sys.stdout.isatty() else ""
    print(f"{start}  {'environment':<13} {text:<50} {seconds:>5.0f} s", flush=True)
