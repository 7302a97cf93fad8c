"""Folders for the rows of files during a read; commands remove them at their end, if not killed."""

from pathlib import Path

LOADING = "load-"
"""The prefix of the folders of `retail load`, in the data folder."""
IMPORTS = "import"
IMPORTING = "lines-"
"""The prefix of the folders of `retail import`, in the folder `import`."""


def list_importing(home: Path) -> list[Path]:
    return sorted((home / IMPORTS).glob(f"{IMPORTING}*"))


def list_scratch(home: Path) -> list[Path]:
    """The scratch folders of running and of killed commands in a data folder."""
    return [*sorted(home.glob(f"{LOADING}*")), *list_importing(home)]
