"""Folders in which rows of files lie while they are read; they go at the end, unless by a kill."""

from pathlib import Path

LOADING = "load-"
"""The beginning of their names: of `retail load`, in the data folder."""
IMPORTS = "import"
IMPORTING = "lines-"
"""Of `retail import`, in the folder `import`."""


def list_importing(home: Path) -> list[Path]:
    return sorted((home / IMPORTS).glob(f"{IMPORTING}*"))


def list_scratch(home: Path) -> list[Path]:
    """Those in a data folder: of commands that run, and of those that were killed."""
    return [*sorted(home.glob(f"{LOADING}*")), *list_importing(home)]
