"""The linter of the contracts' standard, in its own environment: `python -m infra.linter`.

It needs other package versions than this project. The environment is hash-locked, complete, or
absent.
"""

import hashlib
import sys
import time
import venv
from pathlib import Path

from infra import environment
from infra.environment import STAMP
from infra.installer import ROOT, Broken
from infra.installer.install import ensure_installer, sync
from infra.installer.progress import step

LOCK = ROOT / "requirements.linter.lock"
FOLDER = environment.FOLDER / "linter"


def ensure_python() -> Path:
    """The linter's Python; makes its environment first. Raises Broken if that fails."""
    ensure(FOLDER)
    return FOLDER / "bin" / "python"


def ensure(folder: Path) -> None:
    """Make the environment complete and as its lock says; make it anew where it differs."""
    wanted = compute_digest(folder)
    if environment.read_stamp(folder) == wanted:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with environment.lock_environment(folder):
        if environment.read_stamp(folder) != wanted:
            make(folder)
            (folder / STAMP).write_text(wanted)


def compute_digest(folder: Path) -> str:
    parts = [sys.version.encode(), str(folder).encode(), LOCK.read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def make(folder: Path) -> None:
    started = time.monotonic()
    (folder / STAMP).unlink(missing_ok=True)
    venv.EnvBuilder(clear=True, symlinks=True).create(folder)
    uv = ensure_installer(environment.INSTALLER)
    packages = sync(uv, folder, LOCK, "--only-binary", ":all:")
    step(f"linter of the contracts, {packages} packages", time.monotonic() - started)


if __name__ == "__main__":
    try:
        ensure(FOLDER)
    except Broken as broken:
        sys.exit(str(broken))
