"""Records that no client should publish: damaged, of an unknown schema, repeated, or late."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from confluent_kafka import Message

from contracts import RECEIPTS, encode, encode_key
from generators import wire
from generators.event import Dirt, Publication
from infra.errors import UserError
from infra.kafka import (
    Outgoing,
    create_admin,
    create_producer,
    read_between,
    read_end_offsets,
    send_all,
)
from infra.settings import Settings
from ops.control.world_clock import read_clock
from services.clock import get_wall_ms

OFFLINE_MINUTES = 90
"""How long a store was cut off; less than the horizon of its receipts."""
AHEAD_MINUTES = 60
"""How far a wrong clock is ahead; more than the skew of receipts."""
BEHIND_MINUTES = 180
"""How far a wrong clock is behind; more than the horizon of receipts."""
MINUTE_MS = 60_000
COPIES_READ_MAX = 500
"""The number of newest receipts, over all partitions, that are copied."""


def find_world_ms(settings: Settings) -> int:
    """World time now, in epoch milliseconds; raises UserError."""
    announced = read_clock(settings)
    if announced is None:
        raise UserError("The world clock should be in its topic, but is not. See: make status")
    return announced.world_at(get_wall_ms())


def publish_spoilt(settings: Settings, dirt: Dirt, count: int) -> int:
    """Publish this many receipts damaged in this way, of the stores in turn; returns how many."""
    now_ms, stamp = find_world_ms(settings), get_wall_ms()
    published = [
        Publication(now_ms, RECEIPTS.name, 0, 0, event["store_id"], event, dirt)
        for event in create_receipts(f"fault-{dirt.name.lower()}-{stamp}", count, now_ms, now_ms)
    ]
    return _send(
        settings,
        (
            Outgoing(RECEIPTS.name, one.key.encode(), wire.encode_value(one), timestamp_ms=now_ms)
            for one in published
        ),
    )


def publish_copies(settings: Settings, copies: int) -> int:
    """Publish exact copies of the newest receipts, each this many times; returns how many."""
    now_ms = find_world_ms(settings)
    newest = [
        Outgoing(
            RECEIPTS.name,
            message.key() or b"",
            message.value() or b"",
            timestamp_ms=now_ms,
            partition=int(message.partition() or 0),
        )
        for message in read_newest(settings)
    ]
    return _send(settings, (one for one in newest for _ in range(copies)))


def read_newest(settings: Settings) -> Iterator[Message]:
    """The newest receipts, as many of each partition."""
    ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
    each = max(1, COPIES_READ_MAX // len(ends))
    return read_between(settings, {at: max(0, end - each) for at, end in ends.items()}, ends)


def publish_backlog(settings: Settings, store_id: str, count: int) -> int:
    """Publish at once the receipts of a store that was cut off; returns how many."""
    now_ms = find_world_ms(settings)
    since_ms = now_ms - OFFLINE_MINUTES * MINUTE_MS
    events = create_receipts(f"fault-offline-{get_wall_ms()}", count, since_ms, now_ms, store_id)
    return _send_events(settings, events, now_ms)


def publish_by_wrong_clock(settings: Settings, store_id: str, count: int, minutes: int) -> int:
    """Publish receipts of a store whose clock is so many minutes ahead; negative: behind.

    As many follow when its clock is right again. Returns how many were published.
    """
    now_ms, stamp = find_world_ms(settings), get_wall_ms()
    wrong_ms = now_ms + minutes * MINUTE_MS
    wrong = create_receipts(f"fault-wrong-{stamp}", count, wrong_ms, wrong_ms, store_id)
    right = create_receipts(f"fault-right-{stamp}", count, now_ms, now_ms, store_id)
    return _send_events(settings, chain(wrong, right), now_ms)


def _send_events(settings: Settings, events: Iterable[dict[str, Any]], now_ms: int) -> int:
    """Publish the receipts with this timestamp; returns how many."""
    return _send(
        settings,
        (
            Outgoing(
                RECEIPTS.name, encode_key(RECEIPTS, one), encode(RECEIPTS, one), timestamp_ms=now_ms
            )
            for one in events
        ),
    )


def create_receipts(
    named: str, count: int, since_ms: int, now_ms: int, store_id: str | None = None
) -> Iterator[dict[str, Any]]:
    """Good receipts, spread over the span; without a store's id, of twelve stores in turn."""
    for number in range(count):
        yield {
            **RECEIPTS.examples[0],
            "event_id": f"{named}-{number}",
            "event_time": since_ms + (now_ms - since_ms) * number // count,
            "store_id": store_id or f"S{number % 12:03}",
            "card_token": f"fault-card-{number}",
            "customer_id": f"fault-customer-{number}",
        }


def _send(settings: Settings, records: Iterator[Outgoing]) -> int:
    return len(send_all(create_producer(settings), list(records)))
