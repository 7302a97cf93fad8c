"""Events of now, beside a log that the bench has filled: of many keys, or of one hot one."""

from collections.abc import Callable
from itertools import count
from typing import Any

from contracts import HEARTBEATS, RECEIPTS, REFUNDS, Contract
from generators.ticks import START_MS
from infra.settings import Settings
from ops.bench.receipts import Log, create_heartbeat, create_receipt

LIVE_MS = START_MS + 3_600_000
"""Event time of the records that arrive while a batch is measured: after all that is remembered."""
HOT = "HOT"
"""The name of the hot cashier and customer, and of the hot product in one store."""
COLD_CASHIERS = 1_000

EVENTS = count(1)

Make = Callable[[int], tuple[Contract, dict[str, Any]]]
"""An event for a number, and its topic."""


def make_receipt(number: int) -> tuple[Contract, dict[str, Any]]:
    """A receipt of some store, with products that many other receipts have too."""
    return RECEIPTS, {**create_receipt(number), "event_id": f"live-{number}", "event_time": LIVE_MS}


def make_hot_receipt(number: int, lines: int = 3) -> tuple[Contract, dict[str, Any]]:
    """A receipt of one store with lines of one product."""
    line = {"sku": HOT, "units": 1, "unit_price_cents": 249}
    topic, event = make_receipt(number)
    return topic, {**event, "store_id": HOT, "lines": [line] * lines}


def make_receipt_of_hot_customer(number: int) -> tuple[Contract, dict[str, Any]]:
    topic, event = make_receipt(number)
    return topic, {**event, "customer_id": HOT}


def make_refund(number: int, cashiers: int = COLD_CASHIERS) -> tuple[Contract, dict[str, Any]]:
    """A refund without a receipt, by one of this number of cashiers."""
    name = f"{HOT}-{number % cashiers}"
    return REFUNDS, {
        "event_id": f"refund-{number}",
        "event_time": LIVE_MS,
        "store_id": HOT,
        "register_id": HOT,
        "cashier_id": name,
        "card_token": None,
        "receipt_event_id": None,
        "receipt_event_time": None,
        "lines": [{"sku": HOT, "units": 2, "unit_price_cents": 249}],
    }


def append(settings: Settings, events: int, make: Make) -> None:
    """Publish this number of events."""
    log = Log(settings)
    for number in (next(EVENTS) for _ in range(events)):
        topic, event = make(number)
        log.append(topic, event["store_id"], event)
    log.append(HEARTBEATS, "world", create_heartbeat(f"beat-{next(EVENTS)}", LIVE_MS))
    log.flush()
