"""A moment in the value of an option."""

from datetime import UTC, datetime

from infra.errors import UserError


class BadTime(UserError):
    """A time that cannot be read."""

    def __init__(self, option: str, given: str, words: str = "") -> None:
        others = f", or {words}" if words else ""
        super().__init__(
            f"{option}: expected a day or a time, as 2026-03-02 or 2026-03-02T10:00:00Z{others}; "
            f"found {given}."
        )


def parse_moment(option: str, given: str, words: str = "") -> datetime:
    """The instant in UTC; a day without a time begins at midnight, in UTC.

    `words`: other values of the option, for the error. Raises BadTime.
    """
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        raise BadTime(option, given, words) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
