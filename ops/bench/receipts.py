"""A log of receipts: all different, in the order of their time, of three lines each; some twice."""

from typing import Any

from contracts import HEARTBEATS, RECEIPTS, encode
from contracts.shape import Contract
from generators.ticks import START_MS, TICK_MS
from infra.kafka import create_producer
from infra.settings import Settings

LINES = 3
STORES = 12
PRODUCTS = 800
CUSTOMERS = 4_999
CARDS = 9_973
APART_MS = 500
"""World time between two receipts: that of the default world."""
BEAT_EVERY = TICK_MS // APART_MS

CHUNK = 10_000
COPIES = 200
"""So many receipts of each chunk come again after it: their till had no acknowledgement."""
POLL_EVERY = 1_000
FLUSH_SECONDS_MAX = 120.0


def create_receipt(number: int) -> dict[str, Any]:
    """The receipt of that number; the same one for the same number."""
    store = f"S{number % STORES:03}"
    return {
        "event_id": f"{store}-{number:08}",
        "event_time": START_MS + number * APART_MS,
        "store_id": store,
        "register_id": f"{store}-R{number % 3}",
        "cashier_id": f"{store}-K{number % 7:02}",
        "card_token": f"tok_{number % CARDS:04x}",
        "customer_id": f"C{number % CUSTOMERS:06}",
        "lines": [
            {
                "sku": f"SKU-{(7 * number + line) % PRODUCTS:05}",
                "units": 1 + line % 2,
                "unit_price_cents": 249,
            }
            for line in range(LINES)
        ],
    }


def publish(settings: Settings, receipts: int) -> None:
    """Publish so many receipts, in whole chunks, the copies, and the heartbeats between them."""
    producer = create_producer(settings, linger_ms=50)

    def produce(contract: Contract, key: str, event: dict[str, Any]) -> None:
        record = contract.name, encode(contract, event), key.encode()
        while True:
            try:
                producer.produce(*record, timestamp=event["event_time"])
                return
            except BufferError:  # the queue is full
                producer.poll(1)

    for start in range(0, receipts, CHUNK):
        for number in (*range(start, start + CHUNK), *range(start, start + COPIES)):
            event = create_receipt(number)
            produce(RECEIPTS, event["store_id"], event)
            if number % BEAT_EVERY == 0:
                beat = {"event_id": f"beat-{number}", "event_time": event["event_time"]}
                produce(HEARTBEATS, "world", {**beat, "world": "world"})
            if number % POLL_EVERY == 0:
                producer.poll(0)
    if left := producer.flush(FLUSH_SECONDS_MAX):
        raise TimeoutError(f"{left} records were not taken in {FLUSH_SECONDS_MAX:g} s")
