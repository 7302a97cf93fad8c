"""Reads the end of a log, without the rest."""

from pathlib import Path

BYTES_MAX = 64 * 1024
LINES = 12


def tail(log: Path, lines: int = LINES) -> str:
    """The last lines of the file; empty if there is no file."""
    try:
        with log.open("rb") as content:
            size = content.seek(0, 2)
            content.seek(max(0, size - BYTES_MAX))
            end = content.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(end.splitlines()[-lines:])
