"""A log of receipts: all different, in the order of their time, of three lines each; some twice."""

from typing import Any

from contracts import HEARTBEATS, RECEIPTS, encode
from contracts.shape import Contract
from generators.ticks import START_MS, TICK_MS
from infra.kafka import Outgoing, create_producer, send_all
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
SEND_SECONDS_MAX = 120.0


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
    for start in range(0, receipts, CHUNK):
        records = []
        for number in (*range(start, start + CHUNK), *range(start, start + COPIES)):
            event = create_receipt(number)
            records.append(build_record(RECEIPTS, event["store_id"], event))
            if number % BEAT_EVERY == 0:
                beat = {"event_id": f"beat-{number}", "event_time": event["event_time"]}
                records.append(build_record(HEARTBEATS, "world", {**beat, "world": "world"}))
        send_all(producer, records, seconds_max=SEND_SECONDS_MAX)


def build_record(contract: Contract, key: str, event: dict[str, Any]) -> Outgoing:
    return Outgoing(contract.name, key.encode(), encode(contract, event), event["event_time"])
