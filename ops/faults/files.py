"""Files as a power cut or a bad disk leaves them."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from infra.settings import REMEMBERED_FILE, Settings, load_remembered
from ops.generations.folders import locate_checkpoint
from ops.generations.record import read_generations
from services.api.store.database import locate_database, locate_folder

PAGE_BYTES = 4096
"""The size of a SQLite page. The first page stays, so that the file still looks like a database."""
NOISE = b"\xff"
LOCK_SECONDS_MAX = 30.0


def find_checkpoint_file(settings: Settings, pipeline: str) -> Path | None:
    """The offsets of the newest batch of the promoted generation; None where there are none."""
    known = read_generations(settings).get(pipeline)
    if known is None or known.promoted is None:
        return None
    checkpoint = locate_checkpoint(settings, known.promoted)
    newest = checkpoint.find_newest_begun()
    if newest < 0 or not checkpoint.folder.on_disk:
        return None
    return Path(checkpoint.folder.address) / "offsets" / str(newest)


def tear(file: Path) -> tuple[int, int]:
    """Keep the first half of the file; returns its size before and after, in bytes."""
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    return len(whole), len(whole) // 2


def find_database(settings: Settings, pipeline: str) -> Path | None:
    """The API's database of the promoted generation; None where there is none."""
    known = read_generations(settings).get(pipeline)
    if known is None or known.promoted is None:
        return None
    file = locate_database(locate_folder(settings), pipeline, known.promoted.number)
    return file if file.exists() else None


def scribble(file: Path) -> int:
    """Overwrite all of a database but its first page; returns how many bytes."""
    with file.open("r+b") as content:
        size = content.seek(0, 2)
        content.seek(PAGE_BYTES)
        return content.write(NOISE * max(0, size - PAGE_BYTES))


def lock(file: Path, seconds: float) -> None:
    """Keep everybody else from writing to a database for so long."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=LOCK_SECONDS_MAX)) as other:
        other.execute("begin immediate")
        Event().wait(seconds)
        other.execute("rollback")


@contextmanager
def remember_settings(folder: Path, **others: Any) -> Iterator[None]:
    """Processes started within the block read these settings from the data folder, unless their
    environment sets others.

    The file has its old content when the block ends.
    """
    file = folder / REMEMBERED_FILE
    before = file.read_bytes()
    _replace(file, json.dumps({**load_remembered(folder), **others}).encode())
    try:
        yield
    finally:
        _replace(file, before)


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_suffix(".fault")
    draft.write_bytes(content)
    os.replace(draft, file)
