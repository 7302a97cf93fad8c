"""Publishing of records, good and bad ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import CLOCKS, Contract, encode, encode_key
from contracts.times import to_epoch_ms
from infra.kafka import send
from infra.settings import Settings
from tests.brokers import get_producer

HOUR_MS = 3_600_000
Place = tuple[str, int, int]


def publish(
    kafka: Settings,
    contract: Contract,
    after_ms: int = 0,
    record_key: bytes | None = None,
    **fields: Any,
) -> Place:
    """Publish the contract's example with these fields, this long after it happened."""
    event = {**contract.examples[0], **fields}
    at_ms = to_epoch_ms(event["event_time"]) + after_ms
    return put(
        kafka, contract, record_key or encode_key(contract, event), encode(contract, event), at_ms
    )


def put(kafka: Settings, contract: Contract, key: bytes, value: bytes, at_ms: int) -> Place:
    return contract.name, *send(get_producer(kafka), contract.name, key, value, timestamp_ms=at_ms)


def stop_world(kafka: Settings, time: datetime) -> None:
    """Stop the world's clock at this moment."""
    stood = {"world_at": time, "wall_at": datetime.fromtimestamp(0, UTC), "state": "stopped"}
    value = {**CLOCKS.examples[0], **stood}
    send(get_producer(kafka), CLOCKS.name, encode_key(CLOCKS, value), encode(CLOCKS, value))


def hours(number: float) -> timedelta:
    return timedelta(hours=number)
