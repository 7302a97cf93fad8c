"""Deliveries: dispatched, then received, sometimes late, sometimes short."""

from collections.abc import Iterator
from dataclasses import replace

from contracts import SHIPMENTS
from generators.event import Event
from generators.supply import LATE_TICKS_MAX, TRAVEL_MS
from generators.ticks import TICK_MS
from generators.world import World
from tests.generators.worlds import CLEAN, publish_world

BUSY = replace(CLEAN, stores=12, products=120, receipts_per_minute=24.0)
HOURS = 96


def list_deliveries() -> Iterator[tuple[Event, Event]]:
    """Of every shipment that has come within HOURS: its dispatch, its receipt."""
    dispatched: dict[str, Event] = {}
    for event in publish_world(BUSY, SHIPMENTS, HOURS):
        if event["status"] == "dispatched":
            dispatched[event["shipment_id"]] = event
        else:
            yield dispatched.pop(event["shipment_id"]), event


def test_a_delivery_carries_what_was_dispatched_in_whole_packs() -> None:
    packs = {product.sku: product.pack_size_units for product in World(BUSY).products}
    for sent, came in list_deliveries():
        for line in (*sent["lines"], *came["lines"]):
            assert line["dispatched_units"] % packs[line["sku"]] == 0
            assert line["received_units"] % packs[line["sku"]] == 0
        assert sent["store_id"] == came["store_id"]
        assert [(line["sku"], line["dispatched_units"]) for line in came["lines"]] == [
            (line["sku"], line["dispatched_units"]) for line in sent["lines"]
        ]
        assert not any(line["received_units"] for line in sent["lines"])


def test_most_deliveries_come_in_time_and_some_come_late() -> None:
    delays_ms = [
        came["event_time"] - sent["event_time"] - TRAVEL_MS for sent, came in list_deliveries()
    ]
    late = [delay_ms for delay_ms in delays_ms if delay_ms]
    assert 0 < len(late) < len(delays_ms) / 3
    assert 0 < min(late) <= max(late) <= LATE_TICKS_MAX * TICK_MS


def test_most_lines_are_whole_and_some_are_short() -> None:
    lines = [line for _, came in list_deliveries() for line in came["lines"]]
    short = [line for line in lines if line["received_units"] < line["dispatched_units"]]
    assert 0 < len(short) < len(lines) / 10
    assert all(line["received_units"] <= line["dispatched_units"] for line in lines)
