"""What of a data folder has to be kept, and what is made anew from it."""

import os
from collections.abc import Iterator
from pathlib import Path

from infra.identities import FOLDER as IDENTITIES
from infra.scratch import IMPORTS
from infra.settings import BROKER, LAKE, PIPELINES, REMEMBERED_FILE, SECURITY, SIMULATOR

KEPT = (
    BROKER,
    PIPELINES,
    SIMULATOR,
    IMPORTS,
    LAKE,
    SECURITY,
    IDENTITIES,
    REMEMBERED_FILE,
)
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
