"""Receipts by the million: all different, in the order of their time, of three lines each."""

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
POLL_EVERY = 1_000
FLUSH_SECONDS_MAX = 120.0


def create_receipt(number: int, apart_ms: int = APART_MS) -> dict[str, Any]:
    """The receipt of that number; the same one for the same number.

    `apart_ms`: world time between two receipts.
    """
    store = f"S{number % STORES:03}"
    return {
        "event_id": f"{store}-{number:08}",
        "event_time": START_MS + number * apart_ms,
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


def publish(settings: Settings, start: int, end: int, apart_ms: int = APART_MS) -> None:
    """Publish the receipts of these numbers, and the heartbeats between them."""
    log = Log(settings)
    append(log, start, end, apart_ms)
    log.flush()


def append(log: "Log", start: int, end: int, apart_ms: int = APART_MS) -> None:
    """Append the receipts of these numbers, and the heartbeats between them."""
    for number in range(start, end):
        event = create_receipt(number, apart_ms)
        log.append(RECEIPTS, event["store_id"], event)
        if number % BEAT_EVERY == 0:
            log.append(HEARTBEATS, "world", create_heartbeat(f"beat-{number}", event["event_time"]))


def create_heartbeat(event_id: str, at_ms: int) -> dict[str, Any]:
    return {"event_id": event_id, "event_time": at_ms, "world": "world"}


class Log:
    """A producer of events; a full queue is waited for."""

    def __init__(self, settings: Settings) -> None:
        self._producer = create_producer(settings, linger_ms=50)
        self._since_poll = 0

    def append(self, contract: Contract, key: str, event: dict[str, Any]) -> None:
        self._since_poll = (self._since_poll + 1) % POLL_EVERY
        if self._since_poll == 0:
            self._producer.poll(0)
        value = encode(contract, event)
        while True:
            try:
                self._producer.produce(
                    contract.name, value, key.encode(), timestamp=event["event_time"]
                )
                return
            except BufferError:
                self._producer.poll(1)

    def flush(self) -> None:
        if left := self._producer.flush(FLUSH_SECONDS_MAX):
            raise TimeoutError(f"{left} records were not taken in {FLUSH_SECONDS_MAX:g} s")
