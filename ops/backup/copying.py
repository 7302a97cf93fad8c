"""What of a data folder is kept, and how it is copied: most of it while processes write to it, the
rest while they are paused.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from infra.clock import get_wall_ms
from infra.identities import FOLDER as IDENTITIES
from infra.scratch import IMPORTS
from infra.settings import BROKER, LAKE, PIPELINES, REMEMBERED_FILE, SECURITY, SIMULATOR

KEPT = (BROKER, PIPELINES, SIMULATOR, IMPORTS, LAKE, SECURITY, IDENTITIES, REMEMBERED_FILE)
"""The log; checkpoints and code of the generations; what the simulator and an import note beside
the log; the archive; what a secure log asks its clients for; who is who; the settings. The API's
databases come from the log, and Spark's scratch from the checkpoints. Logs, reports and the token
are left out."""

REBUILT = frozenset({".index", ".timeindex"})
"""Of a segment: the broker makes them anew where they are missing. Each takes 10 MiB, nearly all of
it holes, which a copy would fill."""
LOCK = ".lock"

Stamp = tuple[int, int]
"""Size in bytes, and when it was changed, in nanoseconds."""

NS_PER_MS = 1_000_000
TICK_MS_MAX = 2_000
"""The coarsest clock of a file system that people use."""


def list_files(folder: Path) -> dict[Path, Stamp]:
    """Every file to be kept, by its path below the folder, as it is now."""
    found: dict[Path, Stamp] = {}
    for file in _walk(folder):
        try:
            about = file.stat()
        except FileNotFoundError:
            continue  # a segment or a checkpoint may go while we look
        found[file.relative_to(folder)] = (about.st_size, about.st_mtime_ns)
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for name in KEPT:
        if (folder / name).is_file():
            yield folder / name
        for place, _, files in os.walk(folder / name):
            for each in files:
                if Path(each).suffix not in REBUILT and each != LOCK:
                    yield Path(place) / each


class Mirror:
    """A copy of a folder's files that a backup keeps, updated repeatedly."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._copied: dict[Path, Stamp] = {}
        self._young: set[Path] = set()
        """The files that were written to just before they were copied."""

    def update(self, *, last: bool = False) -> int:
        """Copy the files that changed, remove the deleted ones; returns the bytes copied.

        A file that changes while it is copied is copied again the next time: its stamp is taken
        before. So the last update needs a folder that no process writes to. It copies young files
        in any case: two writes within one tick of the file system's clock have the same stamp.
        """
        if last:
            self._copied = {
                file: stamp for file, stamp in self._copied.items() if file not in self._young
            }
        settled_ns = (get_wall_ms() - TICK_MS_MAX) * NS_PER_MS
        stamps = list_files(self._source)
        self._young |= {file for file, (_, changed_ns) in stamps.items() if changed_ns > settled_ns}
        for gone in self._copied.keys() - stamps.keys():
            (self._target / gone).unlink(missing_ok=True)
            del self._copied[gone]
        copied = 0
        for file, stamp in stamps.items():
            if self._copied.get(file) != stamp and self._copy(file):
                self._copied[file] = stamp
                copied += stamp[0]
        return copied

    def _copy(self, file: Path) -> bool:
        """Whether the file still existed."""
        target = self._target / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # the file before may be open to others
        with suppress(FileNotFoundError):
            shutil.copyfile(self._source / file, target)
            shutil.copymode(self._source / file, target)
            return True
        self._copied.pop(file, None)
        return False


def compute_digest(file: Path) -> str:
    """SHA-256 of the file's content, in hex. The content is on the disk when this returns."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        os.fsync(content.fileno())
    return digest
