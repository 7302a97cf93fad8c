"""Folders for the rows of files during a read; commands remove them at their end, if not killed."""

from contextlib import AbstractContextManager
from pathlib import Path

from infra.errors import UserError
from infra.lock import is_locked, lock_folder
from infra.settings import REPORTS

IMPORTS = "import"
IMPORTING = "lines-"
"""The prefix of the folders of `retail import`, in the folder `import`."""

PUBLISHING_SECONDS_MAX = 600.0
"""How long a backup waits for them to end, or they for a backup."""


class StillPublishing(UserError):
    """A backup and an import exclude each other."""

    def __init__(self, home: Path, who: str) -> None:
        super().__init__(
            f"Nothing else should publish into {home} or copy it, but {who} has done so for "
            f"{PUBLISHING_SECONDS_MAX:g} s. Wait for it to end, then try again."
        )


def lock_publishing(home: Path) -> AbstractContextManager[None]:
    """Keep backups waiting until the block ends. Raises StillPublishing.

    The lock is on the folder of the reports of what is refused, which every such command makes.
    """
    held = StillPublishing(home, "retail backup")
    return lock_folder(home / REPORTS, held, PUBLISHING_SECONDS_MAX, shared=True)


def lock_out_publishing(home: Path) -> AbstractContextManager[None]:
    """Wait until no import publishes; keep others waiting until the block ends.

    Raises StillPublishing.
    """
    held = StillPublishing(home, "retail import")
    return lock_folder(home / REPORTS, held, PUBLISHING_SECONDS_MAX)


def is_publishing(home: Path) -> bool:
    """Whether an import or a backup runs."""
    return is_locked(home / REPORTS)


def list_importing(home: Path) -> list[Path]:
    """The scratch folders of running and of killed imports into a data folder."""
    return sorted((home / IMPORTS).glob(f"{IMPORTING}*"))
