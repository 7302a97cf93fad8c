"""Logging: one line per event on standard error, in UTC, for every component alike; and the end
of a log.
"""

import logging
import sys
import time
from io import SEEK_END
from pathlib import Path

BYTES_MAX = 64 * 1024


def set_up_logging(component: str) -> logging.Logger:
    """Send this process's log to standard error. Returns the component's logger."""
    formatter = logging.Formatter(
        fmt="%(asctime)s.%(msecs)03dZ %(levelname)-7s %(name)s  %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
    )
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    return logging.getLogger(component)


def tail(log: Path, lines: int = 12) -> str:
    """The last lines of the file, of its last BYTES_MAX bytes; empty if there is no file."""
    try:
        with log.open("rb") as content:
            size = content.seek(0, SEEK_END)
            content.seek(max(0, size - BYTES_MAX))
            end = content.read(BYTES_MAX).decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(end.splitlines()[-lines:])
