"""What time it is in the world, as the simulator would announce it."""

from datetime import UTC, datetime, timedelta

from contracts import CLOCKS, HEARTBEATS
from contracts.times import to_epoch_ms
from tests.services.writing import Log, publish

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def find_minute(after_noon: int) -> datetime:
    return NOON + timedelta(minutes=after_noon)


def beat(log: Log, time: datetime) -> None:
    """The heartbeat at the end of a world minute."""
    publish(log, HEARTBEATS, {**HEARTBEATS.examples[0], "event_time": time}, to_epoch_ms(time))


def announce(log: Log, world_at: datetime = NOON, state: str = "stopped") -> None:
    """Announce the world's clock, stopped, so that a test knows the time. A running one began long
    ago."""
    clock = {"world_at": world_at, "wall_at": NOON, "state": state}
    publish(log, CLOCKS, {**CLOCKS.examples[0], **clock})
