"""The environment that everything else runs in: hash-locked, complete, or absent.

It uses the standard library only, as it runs before anything is installed.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import sys
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from infra.installer import ROOT
from infra.installer.install import ensure_installer, link, sync
from infra.installer.progress import BAR_WIDTH, show_progress, step

FOLDER = Path(os.environ.get("VENV") or ROOT / ".venv").absolute()
INSTALLER = FOLDER / "installer"
LOCK = ROOT / "infra/requirements/retail.lock"
STAMP = ".complete"


def ensure(folder: Path) -> None:
    """Make the environment complete and as the lock says; make it anew where it differs."""
    wanted = compute_digest(folder)
    if read_stamp(folder) == wanted:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_environment(folder):
        if read_stamp(folder) != wanted:  # another command may have made it while this one waited
            make(folder)
            (folder / STAMP).write_text(wanted)


def compute_digest(folder: Path) -> str:
    """A digest of an environment's parts: Python, path, locked packages, this project's entry."""
    parts = [
        sys.version.encode(),
        str(folder).encode(),  # scripts hold absolute paths: a moved folder needs new ones
        LOCK.read_bytes(),
        read_entry_points(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_entry_points() -> bytes:
    """The part of pyproject.toml on which an installation depends, without the linter's."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = [declared["project"], declared["build-system"], declared["tool"]["hatch"]]
    return json.dumps(installed, sort_keys=True).encode()


def read_stamp(folder: Path) -> str:
    """The digest of the complete environment; empty if it is not complete."""
    try:
        return (folder / STAMP).read_text()
    except OSError:
        return ""


@contextlib.contextmanager
def lock_environment(folder: Path) -> Iterator[None]:
    """Lock the environment; the kernel releases the lock when the process ends."""
    with folder.with_name(folder.name + ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make(folder: Path) -> None:
    started = time.monotonic()
    show_progress("making it anew, from infra/requirements/retail.lock")
    # Remove the stamp first and write it last: the next run repeats an interrupted installation.
    (folder / STAMP).unlink(missing_ok=True)
    venv.EnvBuilder(clear=True, symlinks=True).create(folder)
    uv = ensure_installer(INSTALLER)
    packages = sync(uv, folder, LOCK)
    link(uv, folder, ROOT)
    step(f"{'█' * BAR_WIDTH} {packages} packages", time.monotonic() - started)
