"""The wall clock: it stamps what the control topics say, and never gets into a result."""

from datetime import UTC, datetime


def wall_now() -> datetime:
    return datetime.now(UTC)
