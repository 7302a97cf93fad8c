"""Whether the data folder may still grow."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from infra.settings import Settings

GIB = 1024**3
FREE_GIB_MIN = 1.0
"""With less free disk the world stands still."""
BLOCK_BYTES = 512  # what st_blocks counts in, on every system


def find_shortage(settings: Settings) -> str | None:
    """The message: what is short, and what to do. None while there is room."""
    most_gib = settings.simulator_disk_gib_max
    held_gib = count_bytes(settings.data_dir) / GIB
    if held_gib >= most_gib:
        return (
            f"the data folder holds {held_gib:.1f} GiB of the {most_gib:g} it may hold. Allow "
            f"more: make down && make up SIMULATOR_DISK_GIB_MAX={2 * most_gib:g} · or forget "
            "the world: make reset"
        )
    free_gib = shutil.disk_usage(settings.data_dir).free / GIB
    if free_gib < FREE_GIB_MIN:
        return (
            f"{free_gib:.1f} GiB of disk are free, and {FREE_GIB_MIN:g} have to stay free. Make "
            f"room where {settings.data_dir} is; it then goes on by itself"
        )
    return None


def count_bytes(folder: Path) -> int:
    """The bytes of the folder's files on the disk; holes in them count zero."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # A segment or a checkpoint may disappear meanwhile.
            with suppress(FileNotFoundError):
                total += Path(place, name).lstat().st_blocks * BLOCK_BYTES
    return total
