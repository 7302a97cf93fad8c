"""Generations that have ended: they have forgotten what their next record has to be compared with.

What one has written up to its last marker is exact, and is read until a replay takes its place.
"""

from pathlib import Path

from infra.settings import Settings
from ops.generations.folders import locate_folder
from ops.generations.record import Generation


def end(settings: Settings, generation: Generation, why: str) -> None:
    """Note that the generation cannot take the next batch, for every process on the machine."""
    locate_note(settings, generation).write_text(f"{why}\n")


def find_end(settings: Settings, generation: Generation) -> str | None:
    """Why the generation has ended; None: it has not."""
    try:
        return locate_note(settings, generation).read_text().strip()
    except FileNotFoundError:
        return None


def locate_note(settings: Settings, generation: Generation) -> Path:
    return locate_folder(settings, generation) / "ended"
