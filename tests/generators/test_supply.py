"""Deliveries: dispatched, then received, sometimes late, sometimes short."""

from dataclasses import replace

from contracts import SHIPMENTS
from generators.event import Event
from generators.supply import LATE_TICKS_MAX, TRAVEL_MS
from generators.ticks import TICK_MS
from generators.world import World
from tests.generators.worlds import CLEAN, publish_world

BUSY = replace(CLEAN, stores=12, products=120, receipts_per_minute=24.0)
HOURS = 96


def test_what_is_dispatched_comes_in_whole_packs_mostly_in_time_and_mostly_whole() -> None:
    packs = {product.sku: product.pack_size_units for product in World(BUSY).products}
    dispatched: dict[str, Event] = {}
    delays_ms, is_short = [], []
    for event in publish_world(BUSY, SHIPMENTS, HOURS):
        for line in event["lines"]:
            assert line["dispatched_units"] % packs[line["sku"]] == 0
            assert line["received_units"] % packs[line["sku"]] == 0
            assert line["received_units"] <= line["dispatched_units"]
        if event["status"] == "dispatched":
            assert not any(line["received_units"] for line in event["lines"])
            dispatched[event["shipment_id"]] = event
            continue
        sent = dispatched.pop(event["shipment_id"])
        assert sent["store_id"] == event["store_id"]
        assert [(line["sku"], line["dispatched_units"]) for line in event["lines"]] == [
            (line["sku"], line["dispatched_units"]) for line in sent["lines"]
        ]
        delays_ms.append(event["event_time"] - sent["event_time"] - TRAVEL_MS)
        is_short += [line["received_units"] < line["dispatched_units"] for line in event["lines"]]
    late = [delay_ms for delay_ms in delays_ms if delay_ms]
    assert 0 < len(late) < len(delays_ms) / 3
    assert 0 < min(late) <= max(late) <= LATE_TICKS_MAX * TICK_MS
    assert 0 < sum(is_short) < len(is_short) / 10
