"""The environments: hash-locked, complete, or absent.

Everything runs in one. A program that needs other package versions has one of its own, made at its
first use. This file uses the standard library only, as it runs before anything is installed.
"""

import fcntl
import hashlib
import json
import sys
import time
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

from infra import installer
from infra.installer import ROOT, ensure_installer, locate_python

FOLDER = installer.FOLDER.parent
REQUIREMENTS = ROOT / "infra" / "requirements"
STAMP = ".complete"


@dataclass(frozen=True)
class Environment:
    """An environment with the packages of a lock file."""

    lock: Path
    folder: Path
    project: Path | None = None
    """A project that it has too, in editable mode."""

    def ensure(self) -> None:
        """Make the environment complete and as its lock says; make it anew where it differs.

        Raises Broken.
        """
        wanted = self.compute_digest()
        if self.read_stamp() == wanted:
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.folder.with_name(self.folder.name + ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)  # until this process closes the file, or ends
            if self.read_stamp() != wanted:  # another command may have made it meanwhile
                self.make()
                (self.folder / STAMP).write_text(wanted)

    def ensure_python(self) -> Path:
        """Its Python; makes the environment first. Raises Broken."""
        self.ensure()
        return Path(locate_python(self.folder))

    def compute_digest(self) -> str:
        """A digest of its parts: Python, path, locked packages, the project's entry."""
        parts = [
            sys.version.encode(),
            str(self.folder).encode(),  # scripts hold absolute paths: a moved folder needs new ones
            self.lock.read_bytes(),
        ]
        if self.project:
            parts.append(read_entry_points(self.project))
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def read_stamp(self) -> str:
        """The digest of the complete environment; empty if it is not complete."""
        try:
            return (self.folder / STAMP).read_text()
        except OSError:
            return ""

    def make(self) -> None:
        started = time.monotonic()
        print(f"  {'environment':<13} making it anew, from {self.lock.name}", flush=True)
        # The stamp goes first and comes last: the next run repeats an interrupted installation.
        (self.folder / STAMP).unlink(missing_ok=True)
        venv.EnvBuilder(clear=True, symlinks=True).create(self.folder)
        uv = ensure_installer()
        packages = uv.sync(self.folder, self.lock)
        if self.project:
            uv.link(self.folder, self.project)
        seconds = time.monotonic() - started
        print(f"  {'environment':<13} {f'{packages} packages':<50} {seconds:>5.0f} s", flush=True)


def read_entry_points(project: Path) -> bytes:
    """The part of pyproject.toml on which an installation depends alone."""
    declared = tomllib.loads((project / "pyproject.toml").read_text())
    installed = [declared["project"], declared["build-system"], declared["tool"]["hatch"]]
    return json.dumps(installed, sort_keys=True).encode()


RETAIL = Environment(REQUIREMENTS / "retail.lock", FOLDER, project=ROOT)
FLINK = Environment(REQUIREMENTS / "flink.lock", FOLDER / "flink")
"""PyFlink, for the bench."""
