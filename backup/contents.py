"""The files of a data folder that a backup keeps; all others are made anew from them."""

import os
from collections.abc import Iterator
from pathlib import Path

from infra.settings import REMEMBERED_FILE

KEPT = ("broker", "pipelines", "simulator", "import", "lake", REMEMBERED_FILE)
"""The log; checkpoints and code of the generations; state of the simulator and of an import;
the archive; the settings. The API's databases come from the log, and Spark's scratch from
the checkpoints. Logs, reports and the token are left out."""

REBUILT = frozenset({".index", ".timeindex"})
"""A segment's indexes. The broker makes missing ones anew. Each is a sparse file of 10 MiB, whose
holes a copy would fill."""
LOCK = ".lock"

Stamp = tuple[int, int]
"""Size in bytes, and time of the last change in nanoseconds."""


def list_files(folder: Path) -> dict[Path, Stamp]:
    """The stamp of every file to keep, by its path below the folder."""
    stamps: dict[Path, Stamp] = {}
    for file in _walk(folder):
        try:
            about = file.stat()
        except FileNotFoundError:
            continue  # a segment or a checkpoint may be deleted meanwhile
        stamps[file.relative_to(folder)] = (about.st_size, about.st_mtime_ns)
    return stamps


def _walk(folder: Path) -> Iterator[Path]:
    for name in KEPT:
        if (folder / name).is_file():
            yield folder / name
        for place, _, files in os.walk(folder / name):
            for each in files:
                if Path(each).suffix not in REBUILT and each != LOCK:
                    yield Path(place) / each
