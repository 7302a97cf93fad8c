"""What time it is in the world, as the simulator would announce it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import CLOCKS, HEARTBEATS, encode, encode_key
from contracts.times import to_epoch_ms
from tests.services.writing import Log

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def find_minute(after_noon: int) -> datetime:
    return NOON + timedelta(minutes=after_noon)


def beat(log: Log, at: datetime) -> None:
    """The heartbeat at the end of a world minute."""
    value = {**HEARTBEATS.examples[0], "event_time": at}
    key, encoded = encode_key(HEARTBEATS, value), encode(HEARTBEATS, value)
    log.publish((HEARTBEATS.name, 0), key, encoded, to_epoch_ms(at))


def announce(log: Log, world_at: datetime = NOON, state: str = "stopped") -> None:
    """Announce the world's clock, stopped, so that a test knows the time. A running one began long
    ago."""
    value: dict[str, Any] = {
        "world": "world",
        "seed": 1,
        "world_at": world_at,
        "wall_at": NOON,
        "speed_milli": 10_000,
        "state": state,
    }
    log.publish((CLOCKS.name, 0), encode_key(CLOCKS, value), encode(CLOCKS, value))
