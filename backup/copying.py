"""Copying a folder: most of it while processes write to it, the rest while they are paused."""

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

from backup.contents import Stamp, list_files

CHUNK_BYTES = 1024 * 1024


class Mirror:
    """A copy of a folder's files that a backup keeps, updated repeatedly."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._copied: dict[Path, Stamp] = {}

    def update(self) -> int:
        """Copy the files that changed, remove the deleted ones; returns the bytes copied.

        A file that changes while it is copied is copied again the next time: its stamp is taken
        before. So the last update needs a folder that no process writes to.
        """
        now = list_files(self._source)
        for gone in self._copied.keys() - now.keys():
            (self._target / gone).unlink(missing_ok=True)
            del self._copied[gone]
        copied = 0
        for file, stamp in now.items():
            if self._copied.get(file) != stamp and self._copy(file):
                self._copied[file] = stamp
                copied += stamp[0]
        return copied

    def _copy(self, file: Path) -> bool:
        """Whether the file still existed."""
        target = self._target / file
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copyfile(self._source / file, target)
            shutil.copymode(self._source / file, target)
            return True
        target.unlink(missing_ok=True)
        self._copied.pop(file, None)
        return False


def compute_digest(file: Path) -> str:
    """SHA-256 of the file's content, in hex. The content is on the disk when this returns."""
    hashed = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            hashed.update(chunk)
        os.fsync(content.fileno())
    return hashed.hexdigest()
