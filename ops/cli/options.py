"""What several commands have: options, and a lock."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.lock import lock_folder

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def lock_home(
    home: Path, what: str = "starting or stopping what runs on"
) -> AbstractContextManager[None]:
    """Lock a data folder, so that one command at a time changes it, until the block ends.

    Raises UserError.
    """
    return lock_folder(
        home,
        UserError(f"Another retail command is {what} {home}. Wait for it to end, then try again."),
    )
