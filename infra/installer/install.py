"""Installs the packages of a lock file, and the project itself."""

import os
import subprocess
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from infra.installer.fetch import fetch
from infra.installer.index import Index, find_index
from infra.installer.pip import TAIL_LINES, explain_failure
from infra.installer.progress import Bar, show_progress


@dataclass(frozen=True)
class Installer:
    """uv and its index."""

    uv: Path
    index: Index

    def command(self, *words: str) -> list[str]:
        return [str(self.uv), "--color=never", *words, *self.index.options]

    def environment(self) -> dict[str, str]:
        """Variables of uv in the environment override pip's settings."""
        return {**self.index.variables, **os.environ}


@dataclass(frozen=True)
class Outcome:
    """How a run of the installer ended."""

    succeeded: bool
    packages: int
    tail: list[str]


def ensure_installer(folder: Path) -> Installer:
    """The pinned installer, kept under the folder. Raises Broken."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return Installer(fetch(folder, Path(scratch)), find_index(Path(scratch)))


def sync(installer: Installer, folder: Path, lock: Path, *options: str) -> int:
    """Install the lock's packages into an environment. Returns the number of packages.

    The lock's hashes also cover the packages that build others from source. uv asks the index only
    for packages that the cache lacks. It compiles nothing: Python compiles the small part that it
    imports. Raises Broken.
    """
    pinned = ["--require-hashes", "--build-constraints", str(lock), *options, str(lock)]
    words = ["pip", "sync", "--python", locate_python(folder), *pinned]
    outcome = run(installer, *words, "--offline")
    return count_packages(outcome if outcome.succeeded else run(installer, *words))


def link(installer: Installer, folder: Path, project: Path) -> None:
    """Install a project in editable mode. Raises Broken."""
    built_by = ["--offline", "--no-deps", "--no-build-isolation"]  # the lock has the builder
    count_packages(
        run(
            installer,
            "pip",
            "install",
            "--python",
            locate_python(folder),
            *built_by,
            "-e",
            str(project),
        )
    )


def locate_python(folder: Path) -> str:
    return str(folder / "bin" / "python")


def run(installer: Installer, *words: str) -> Outcome:
    """Run uv and show its progress."""
    bar = Bar()
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with subprocess.Popen(
        installer.command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=installer.environment(),
    ) as uv:
        assert uv.stdout is not None
        for line in uv.stdout:
            tail.append(line.rstrip())
            bar.note(line)
            show_progress(bar)
    return Outcome(uv.returncode == 0, bar.packages, list(tail))


def count_packages(outcome: Outcome) -> int:
    """The number of installed packages. Raises Broken when the installation failed."""
    if not outcome.succeeded:
        raise explain_failure("uv", outcome.tail)
    return outcome.packages
