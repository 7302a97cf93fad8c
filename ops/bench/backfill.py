"""The rate at which the simulator fills a log with history, beside a plain producer loop."""

import time
from collections.abc import Iterator

from contracts import RECEIPTS, encode
from infra.kafka import apply_topics, create_admin, create_producer, read_end_offsets
from infra.settings import Settings
from ops.bench import history
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, Yardstick, aim_at_least
from ops.bench.receipts import LINES, create_receipt
from ops.bench.scale import Scale

PLAIN_TOPIC = "public.bench.plain.v1"
PLAIN_RECEIPTS = 1_000_000
POLL_EVERY = 1_000
FLUSH_SECONDS_MAX = 60.0


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    past = history.select_history_folder(settings)
    with run_broker(past):
        seconds = history.fill(past, scale.history_days)
        receipts = sum(read_end_offsets(create_admin(past), [RECEIPTS.name]).values())
        plain = measure_plain_rate(past)
    yield Figure(
        "backfill",
        receipts / seconds,
        "receipts/s",
        aim_at_least(20_000, stretch=40_000),
        Yardstick("a plain producer loop", plain),
        f"{receipts:,} receipts, {LINES} lines on average, and all else that happens in "
        f"{24 * scale.history_days} hours of the world, with the start of the program. The loop "
        f"produces one receipt of {LINES} lines again and again.",
    )


def measure_plain_rate(settings: Settings) -> float:
    """Receipts per second of a loop that produces the same receipt."""
    apply_topics(settings, {PLAIN_TOPIC: RECEIPTS})
    event = create_receipt(0)
    value, key = encode(RECEIPTS, event), str(event["store_id"]).encode()
    client = create_producer(settings, linger_ms=50)
    began = time.monotonic()
    for number in range(PLAIN_RECEIPTS):
        if number % POLL_EVERY == 0:
            client.poll(0)
        while True:
            try:
                client.produce(PLAIN_TOPIC, value, key, number % RECEIPTS.settings.partitions)
                break
            except BufferError:
                client.poll(1)
    if left := client.flush(FLUSH_SECONDS_MAX):
        raise TimeoutError(f"{left} records were not taken in {FLUSH_SECONDS_MAX:g} s")
    return PLAIN_RECEIPTS / (time.monotonic() - began)
