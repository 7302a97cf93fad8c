"""A lock, so that one command at a time changes the processes of a data folder."""

from contextlib import AbstractContextManager
from pathlib import Path

from infra.errors import UserError
from infra.lock import lock_folder


def lock_home(
    home: Path, what: str = "starting or stopping what runs on"
) -> AbstractContextManager[None]:
    """Lock the folder until the block ends; raises UserError."""
    return lock_folder(
        home,
        UserError(f"Another retail command is {what} {home}. Wait for it to end, then try again."),
    )
