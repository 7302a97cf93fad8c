"""Records that no client should publish: damaged, repeated, late, or sent with librdkafka's own
defaults and no manners.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from threading import Event
from typing import Any

from confluent_kafka import Message, Producer

from contracts import CONTRACTS, HEARTBEATS, RECEIPTS, Row, encode, encode_key
from contracts.partitions import choose_partition
from generators import wire
from generators.event import Dirt, Publication
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.kafka import (
    Outgoing,
    create_admin,
    create_producer,
    read_between,
    read_end_offsets,
    send_all,
)
from infra.kafka.clients import Config, build_client_config
from infra.kafka.send import BY_KEY
from infra.settings import Settings
from ops.control.world_clock import read_clock

OFFLINE_MINUTES = 90
"""How long a store was cut off; less than the horizon of its receipts."""
AHEAD_MINUTES = 60
"""How far a wrong clock is ahead; more than the skew of receipts."""
BEHIND_MINUTES = 180
"""How far a wrong clock is behind; more than the horizon of receipts."""
MINUTE_MS = 60_000
COPIES_READ_MAX = 500
"""The number of newest receipts, over all partitions, that are copied."""
ANSWER_SECONDS_MAX = 30.0
OPEN_MS_ROOM = 60_000
"""Beyond the time that a transaction is meant to be open, until the broker aborts it."""
LAST_MS = 253_402_300_000_000
"""In the year 9999."""
FIRST_MS = 1
AGAIN_MINUTES = 60
"""Between two uses of an id; less than the horizon of receipts."""
BACK_MINUTES = 300
"""More than a live generation remembers of receipts."""
UNKNOWN_FRAME = b"\0\xff\xff\xff\xff"
LARGE_BYTES = 200_000
RUBBISH = (b"", b"?", b"\0\0", UNKNOWN_FRAME + b"rest", b"\xff" * LARGE_BYTES, None)
"""Values that nobody can read; the last one is a tombstone."""
KEYS = (b"rubbish", b"\xff\xfe", None)


def find_world_ms(settings: Settings) -> int:
    """World time now, in epoch milliseconds; raises UserError."""
    announced = read_clock(settings)
    if announced is None:
        raise UserError("The world clock should be in its topic, but is not. See: make status")
    return announced.world_at(get_wall_ms())


def publish_spoilt(settings: Settings, dirt: Dirt, count: int) -> int:
    """Publish this many receipts damaged in this way, of the stores in turn; returns how many."""
    now_ms, records = find_world_ms(settings), []
    named = f"fault-{dirt.name.lower()}-{get_wall_ms()}"
    for event in create_receipts(named, count, now_ms, now_ms):
        key = event["store_id"]
        value = wire.encode_value(Publication(now_ms, RECEIPTS.name, 0, 0, key, event, dirt))
        records.append(Outgoing(RECEIPTS.name, key.encode(), value, timestamp_ms=now_ms))
    return len(send_all(create_producer(settings), records))


def publish_copies(settings: Settings, copies: int = 1, *, in_place: bool = True) -> int:
    """Publish exact copies of the newest receipts, each this many times; returns how many.

    `in_place`: into the partition of the original, else where librdkafka's default has it.
    """
    client = create_producer(settings) if in_place else create_client(settings)
    now_ms = find_world_ms(settings)
    newest = [
        Outgoing(
            RECEIPTS.name,
            message.key() or b"",
            message.value() or b"",
            now_ms,
            int(message.partition() or 0) if in_place else BY_KEY,
        )
        for message in read_newest(settings)
    ]
    return len(send_all(client, newest * copies))


def read_newest(settings: Settings) -> Iterator[Message]:
    """The newest receipts, as many of each partition."""
    ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
    each = max(1, COPIES_READ_MAX // len(ends))
    starts = {partition: max(0, end - each) for partition, end in ends.items()}
    return read_between(settings, starts, ends)


def publish_backlog(settings: Settings, store_id: str, count: int) -> int:
    """Publish at once the receipts of a store that was cut off; returns how many."""
    now_ms = find_world_ms(settings)
    since_ms = now_ms - OFFLINE_MINUTES * MINUTE_MS
    events = create_receipts(f"fault-offline-{get_wall_ms()}", count, since_ms, now_ms, store_id)
    return send_receipts(create_producer(settings), events, now_ms)


def publish_by_wrong_clock(settings: Settings, store_id: str, count: int, minutes: int) -> int:
    """Publish receipts of a store whose clock is so many minutes ahead; negative: behind.

    As many follow when its clock is right again. Returns how many were published.
    """
    now_ms, stamp = find_world_ms(settings), get_wall_ms()
    wrong_ms = now_ms + minutes * MINUTE_MS
    wrong = create_receipts(f"fault-wrong-{stamp}", count, wrong_ms, wrong_ms, store_id)
    right = create_receipts(f"fault-right-{stamp}", count, now_ms, now_ms, store_id)
    return send_receipts(create_producer(settings), chain(wrong, right), now_ms)


def send_receipts(client: Producer, receipts: Iterable[Row], published_ms: int) -> int:
    """Publish the receipts with this timestamp; returns how many. Raises NotDelivered."""
    records = []
    for receipt in receipts:
        key = encode_key(RECEIPTS, receipt)
        partition = choose_partition(key, RECEIPTS.settings.partitions)
        value = encode(RECEIPTS, receipt)
        records.append(Outgoing(RECEIPTS.name, key, value, published_ms, partition))
    return len(send_all(client, records))


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


def create_client(settings: Settings, options: Config | None = None) -> Producer:
    return Producer({**build_client_config(settings), **(options or {})})


def publish_transactions(settings: Settings, count: int, seconds: float) -> int:
    """Publish receipts in four transactions, of which the second and the last are committed.

    The last one stays open for so long. Returns how many were published, aborted ones included.
    """
    stamp = get_wall_ms()
    client = create_client(
        settings,
        {
            "transactional.id": f"fault-{stamp}",
            "transaction.timeout.ms": round(seconds * 1000) + OPEN_MS_ROOM,
        },
    )
    client.init_transactions(ANSWER_SECONDS_MAX)
    for number, (commits, open_seconds) in enumerate(
        ((False, 0.0), (True, 0.0), (False, 0.0), (True, seconds))
    ):
        now_ms = find_world_ms(settings)
        client.begin_transaction()
        receipts = create_receipts(f"fault-{stamp}-{number}", count, now_ms, now_ms)
        send_receipts(client, receipts, now_ms)
        Event().wait(open_seconds)
        if commits:
            client.commit_transaction(ANSWER_SECONDS_MAX)
        else:
            client.abort_transaction(ANSWER_SECONDS_MAX)
    return 4 * count


def publish_restarted(settings: Settings, store_id: str, count: int) -> int:
    """Publish receipts of a till whose counter began again: each id twice, at two times."""
    now_ms, named = find_world_ms(settings), f"fault-again-{get_wall_ms()}"
    before_ms = now_ms - AGAIN_MINUTES * MINUTE_MS
    client = create_client(settings)
    for at_ms in (before_ms, now_ms):
        send_receipts(client, create_receipts(named, count, at_ms, at_ms, store_id), now_ms)
    return 2 * count


def publish_backdated(settings: Settings, count: int) -> int:
    """Publish receipts that happened hours ago, stamped with that time, and each once more."""
    at_ms = find_world_ms(settings) - BACK_MINUTES * MINUTE_MS
    client, named = create_client(settings), f"fault-back-{get_wall_ms()}"
    for _ in range(2):
        send_receipts(client, create_receipts(named, count, at_ms, at_ms), at_ms)
    return 2 * count


def publish_beats(settings: Settings) -> int:
    """Publish heartbeats of other times, whose timestamps say the same or the present one."""
    now_ms, beats = find_world_ms(settings), []
    for at_ms in (LAST_MS, FIRST_MS):
        event = {**HEARTBEATS.examples[0], "event_id": f"fault-{at_ms}", "event_time": at_ms}
        key, value = encode_key(HEARTBEATS, event), encode(HEARTBEATS, event)
        beats += [Outgoing(HEARTBEATS.name, key, value, stamp_ms) for stamp_ms in (at_ms, now_ms)]
    return len(send_all(create_client(settings), beats))


def publish_rubbish(settings: Settings) -> int:
    """Publish what nobody can read into every topic that there is, control topics among them."""
    there = create_admin(settings).list_topics(timeout=ANSWER_SECONDS_MAX).topics
    client, now_ms = create_client(settings), find_world_ms(settings)
    published = 0
    for topic in sorted(set(CONTRACTS) & set(there)):
        for value in RUBBISH:
            for key in KEYS:
                if key is None and CONTRACTS[topic].settings.config.get("cleanup.policy"):
                    continue  # a broker takes no record without a key into a compacted topic
                client.produce(topic, value, key, timestamp=now_ms)
                published += 1
        if left := client.flush(ANSWER_SECONDS_MAX):
            raise TimeoutError(f"Kafka should take {left} records, but does not. See: make status")
    return published
