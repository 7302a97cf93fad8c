"""What several commands have: options, and a lock."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.lock import lock_folder

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def parse_moment(option: str, given: str, words: str = "") -> datetime:
    """The instant in UTC; a day without a time begins at midnight, in UTC.

    `words`: other values of the option, for the error. Raises UserError.
    """
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        others = f", or {words}" if words else ""
        raise UserError(
            f"{option}: expected a day or a time, as 2026-03-02 or 2026-03-02T10:00:00Z{others}; "
            f"found {given}."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


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
