"""What a client of somebody else does to the log: librdkafka's own defaults, and no manners."""

from collections.abc import Iterable
from threading import Event

from confluent_kafka import Producer

from contracts import CONTRACTS, HEARTBEATS, RECEIPTS, Row, encode, encode_key
from contracts.partitions import choose_partition
from infra.kafka import create_admin
from infra.kafka.clients import Config, build_client_config
from infra.settings import Settings
from ops.faults import records
from services.clock import get_wall_ms

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
        now_ms = records.find_world_ms(settings)
        client.begin_transaction()
        send(
            client,
            records.create_receipts(f"fault-{stamp}-{number}", count, now_ms, now_ms),
            now_ms,
        )
        Event().wait(open_seconds)
        if commits:
            client.commit_transaction(ANSWER_SECONDS_MAX)
        else:
            client.abort_transaction(ANSWER_SECONDS_MAX)
    return 4 * count


def publish_restarted(settings: Settings, store_id: str, count: int) -> int:
    """Publish receipts of a till whose counter began again: each id twice, at two times."""
    now_ms, named = records.find_world_ms(settings), f"fault-again-{get_wall_ms()}"
    before_ms = now_ms - AGAIN_MINUTES * records.MINUTE_MS
    client = create_client(settings)
    for at_ms in (before_ms, now_ms):
        send(client, records.create_receipts(named, count, at_ms, at_ms, store_id), now_ms)
    return 2 * count


def publish_backdated(settings: Settings, count: int) -> int:
    """Publish receipts that happened hours ago, stamped with that time, and each once more."""
    at_ms = records.find_world_ms(settings) - BACK_MINUTES * records.MINUTE_MS
    client, named = create_client(settings), f"fault-back-{get_wall_ms()}"
    for _ in range(2):
        send(client, records.create_receipts(named, count, at_ms, at_ms), at_ms)
    return 2 * count


def publish_beats(settings: Settings) -> int:
    """Publish heartbeats of other times, whose timestamps say the same or the present one."""
    client, now_ms = create_client(settings), records.find_world_ms(settings)
    for at_ms in (LAST_MS, FIRST_MS):
        for published_ms in (at_ms, now_ms):
            event = {**HEARTBEATS.examples[0], "event_id": f"fault-{at_ms}", "event_time": at_ms}
            key = encode_key(HEARTBEATS, event)
            client.produce(HEARTBEATS.name, encode(HEARTBEATS, event), key, timestamp=published_ms)
    flush(client)
    return 4


def publish_elsewhere(settings: Settings) -> int:
    """Publish the newest receipts once more, where librdkafka's default partitioner has them."""
    client, now_ms = create_client(settings), records.find_world_ms(settings)
    published = 0
    for message in records.read_newest(settings):
        client.produce(RECEIPTS.name, message.value(), message.key(), timestamp=now_ms)
        published += 1
    flush(client)
    return published


def publish_rubbish(settings: Settings) -> int:
    """Publish what nobody can read into every topic that there is, control topics among them."""
    there = create_admin(settings).list_topics(timeout=ANSWER_SECONDS_MAX).topics
    client, now_ms = create_client(settings), records.find_world_ms(settings)
    published = 0
    for topic in sorted(set(CONTRACTS) & set(there)):
        for value in RUBBISH:
            for key in KEYS:
                if key is None and CONTRACTS[topic].settings.config.get("cleanup.policy"):
                    continue  # a broker takes no record without a key into a compacted topic
                client.produce(topic, value, key, timestamp=now_ms)
                published += 1
        flush(client)
    return published


def send(client: Producer, receipts: Iterable[Row], published_ms: int) -> None:
    for receipt in receipts:
        key = encode_key(RECEIPTS, receipt)
        partition = choose_partition(key, RECEIPTS.settings.partitions)
        client.produce(
            RECEIPTS.name, encode(RECEIPTS, receipt), key, partition, timestamp=published_ms
        )
    flush(client)


def flush(client: Producer) -> None:
    if left := client.flush(ANSWER_SECONDS_MAX):
        raise TimeoutError(f"Kafka should take {left} records, but does not. See: make status")
