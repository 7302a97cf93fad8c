"""Environments for programs that need other package versions than this project.

Each is hash-locked, complete, or absent, and made at its first use.
"""

import hashlib
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from infra import environment
from infra.environment import STAMP
from infra.installer import ROOT, Broken
from infra.installer.install import ensure_installer, locate_python, sync
from infra.installer.progress import step


@dataclass(frozen=True)
class SeparateEnvironment:
    """The environment of the packages in infra/requirements/NAME.lock."""

    name: str
    what: str
    """What it holds, for a person."""
    options: tuple[str, ...] = ()
    """Options of the installer."""

    @property
    def lock(self) -> Path:
        return ROOT / "infra" / "requirements" / f"{self.name}.lock"

    @property
    def folder(self) -> Path:
        return environment.FOLDER / self.name

    def ensure_python(self) -> Path:
        """Its Python; makes the environment first. Raises Broken if that fails."""
        self.ensure(self.folder)
        return Path(locate_python(self.folder))

    def ensure(self, folder: Path) -> None:
        """Make the environment complete and as its lock says; make it anew where it differs."""
        wanted = self.compute_digest(folder)
        if environment.read_stamp(folder) == wanted:
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        with environment.lock_environment(folder):
            if environment.read_stamp(folder) != wanted:
                self.make(folder)
                (folder / STAMP).write_text(wanted)

    def compute_digest(self, folder: Path) -> str:
        parts = [sys.version.encode(), str(folder).encode(), self.lock.read_bytes()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def make(self, folder: Path) -> None:
        started = time.monotonic()
        (folder / STAMP).unlink(missing_ok=True)
        venv.EnvBuilder(clear=True, symlinks=True).create(folder)
        uv = ensure_installer(environment.INSTALLER)
        packages = sync(uv, folder, self.lock, *self.options)
        step(f"{self.what}, {packages} packages", time.monotonic() - started)

    def main(self) -> None:
        """Make it ahead of its use. Exits with a message if that fails."""
        try:
            self.ensure(self.folder)
        except Broken as broken:
            sys.exit(str(broken))
