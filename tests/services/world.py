"""What time it is in the world, as the simulator would announce it."""

from datetime import UTC, datetime
from typing import Any

from contracts import CLOCKS, encode, key
from tests.services.writing import Log

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def announce(log: Log, world_at: datetime = NOON) -> None:
    """The world's clock: it stands, so that a test knows the time."""
    value: dict[str, Any] = {
        "world": "world",
        "seed": 1,
        "world_at": world_at,
        "wall_at": NOON,
        "speed_milli": 10_000,
        "state": "stopped",
    }
    log.publish((CLOCKS.name, 0), key(CLOCKS, value), encode(CLOCKS, value))
