"""The current date, for sunsets."""

from datetime import UTC, date, datetime


def get_today() -> date:
    return datetime.now(UTC).date()
