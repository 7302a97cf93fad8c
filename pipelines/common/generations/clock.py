"""The wall clock: the timestamp of control records. It never gets into a result."""

from datetime import UTC, datetime


def wall_now() -> datetime:
    return datetime.now(UTC)
