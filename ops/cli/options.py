"""Options that several commands have."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from infra.errors import UserError

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def parse_moment(option: str, given: str) -> datetime:
    """The instant in UTC; a day without a time begins at midnight, in UTC. Raises UserError."""
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        raise UserError(
            f"{option}: expected a day or a time, as 2026-03-02 or 2026-03-02T10:00:00Z; "
            f"found {given}."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
