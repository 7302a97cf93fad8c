"""The wall clock: it stamps control records and never enters a result."""

from datetime import UTC, datetime


def get_wall_now() -> datetime:
    return datetime.now(UTC)
