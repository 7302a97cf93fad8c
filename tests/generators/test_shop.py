"""A store's days: what is delivered, brought back, booked and planned against it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter

from contracts import (
    ADJUSTMENTS,
    INCIDENTS,
    LEDGER,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    build_model,
    decode,
    encode,
)
from generators.event import Event, Publication
from generators.incidents.book import STORIES
from generators.returns import AFTER_MS_MIN
from generators.supply import LATE_TICKS_MAX, TRAVEL_MS
from generators.ticks import HOUR_MS, START_MS, TICK_MS
from generators.world import World
from tests.generators.worlds import CLEAN, publish_hours, publish_world, remember, select_pages

CROWDED = replace(CLEAN, stores=12, products=120, receipts_per_minute=24.0)
SUPPLIED_HOURS = 96


def test_what_is_dispatched_comes_in_whole_packs_mostly_in_time_and_mostly_whole() -> None:
    packs = {product.sku: product.pack_size_units for product in World(CROWDED).products}
    dispatched: dict[str, Event] = {}
    delays_ms, is_short = [], []
    for event in publish_world(CROWDED, SHIPMENTS, SUPPLIED_HOURS):
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


name_goods = itemgetter("sku", "unit_price_cents")


def test_a_refund_pays_back_what_its_receipt_says_once() -> None:
    receipts = {event["event_id"]: event for event in publish_world(CLEAN, RECEIPTS, hours=72)}
    refunded: list[str] = []
    for refund in publish_world(CLEAN, REFUNDS, hours=72):
        receipt = receipts.get(refund["receipt_event_id"])
        if receipt is None:
            assert refund["receipt_event_id"] is None
            continue
        refunded.append(refund["receipt_event_id"])
        (line,) = refund["lines"]
        bought = [sold for sold in receipt["lines"] if name_goods(sold) == name_goods(line)]
        assert line["units"] <= max(sold["units"] for sold in bought)
        assert refund["store_id"] == receipt["store_id"]
        assert refund["card_token"] == receipt["card_token"]
        assert refund["event_time"] >= receipt["event_time"] + AFTER_MS_MIN
    assert len(refunded) > 100
    assert len(set(refunded)) == len(refunded)


BOOK, TRANSIT = "book_units", "transit_units"

Account = tuple[str, str, str]
"""What is counted: stock by the books or goods on their way; of a store and a sku."""


def list_movements(publication: Publication) -> Iterator[tuple[Account, int]]:
    event = publication.event
    store_id = event.get("store_id", "")
    if publication.topic in (RECEIPTS.name, REFUNDS.name):
        sign = 1 if publication.topic == REFUNDS.name else -1
        for line in event["lines"]:
            yield (BOOK, store_id, line["sku"]), sign * line["units"]
    elif publication.topic == SHIPMENTS.name:
        closes = event["status"] == "received"
        for line in event["lines"]:
            yield (BOOK, store_id, line["sku"]), line["received_units"]
            units = line["dispatched_units"]
            yield (TRANSIT, store_id, line["sku"]), -units if closes else units
    elif publication.topic == ADJUSTMENTS.name:
        yield (BOOK, store_id, event["sku"]), event["units"]


def test_at_every_page_the_book_is_what_the_first_copies_say() -> None:
    book: Counter[Account] = Counter()
    published: Counter[Account] = Counter()
    seen: set[str] = set()
    pages_seen = 0
    for publication in publish_hours(24):
        if publication.topic == LEDGER.name:
            page = publication.event
            pages_seen += 1
            for moved in page["movements"]:
                for units in (BOOK, TRANSIT):
                    book[units, page["store_id"], moved["sku"]] += moved[units]
            of_store = [account for account in published if account[1] == publication.key]
            assert all(book[account] == published[account] for account in of_store)
        elif publication.topic != INCIDENTS.name and publication.event["event_id"] not in seen:
            seen.add(publication.event["event_id"])
            for account, moved_units in list_movements(publication):
                published[account] += moved_units
    assert pages_seen > 24 * 60
    assert book == published
    assert {account[0] for account in published} == {BOOK, TRANSIT}


def test_unseen_theft_parts_the_book_from_the_shelf() -> None:
    """In a world without dirt the book lacks nothing: what is left is theft nobody has counted."""
    gap_units = widest_units = 0
    for tick in remember(CLEAN).list_ticks(48):
        for publication in select_pages(tick):
            for moved in publication.event["movements"]:
                gap_units += moved["book_units"] - moved["physical_units"]
            assert gap_units >= 0
        widest_units = max(widest_units, gap_units)
    assert 0 < gap_units < 2 * widest_units


BUSY = replace(CLEAN, products=200, fraud_rate=0.02, look_alike_rate=0.04)
INCIDENT_HOURS = 36
SETTLED_MS = START_MS + (INCIDENT_HOURS - 3) * HOUR_MS


def find_incidents() -> list[Event]:
    """Those that were over long enough before the end: what was late is in the log, too."""
    incidents = publish_world(BUSY, INCIDENTS, INCIDENT_HOURS)
    found = [incident for incident in incidents if incident["world_at"] < SETTLED_MS]
    assert found
    return found


def test_each_rule_has_frauds_and_five_ways_to_be_innocent() -> None:
    planted = {
        (incident["rule"], incident["planted_as"], incident["story"])
        for incident in find_incidents()
    }
    for rule, stories in STORIES.items():
        assert sum(rule == of and kind == "fraud" for of, kind, _ in planted) == len(stories.frauds)
        innocent = sum(rule == of and kind == "look-alike" for of, kind, _ in planted)
        assert innocent == len(stories.look_alikes) >= 5


def test_incidents_keep_their_contract_happened_and_are_told_once_after_their_last_event() -> None:
    incidents = find_incidents()
    log = {
        topic.name: {
            event["event_id"]: event for event in publish_world(BUSY, topic, INCIDENT_HOURS)
        }
        for topic in (RECEIPTS, REFUNDS)
    }
    assert len({incident["incident_id"] for incident in incidents}) == len(incidents) > 100
    for incident in incidents:
        build_model(INCIDENTS).model_validate(decode(encode(INCIDENTS, incident)).value)
        for deed in incident["events"]:
            event = log[deed["topic"]][deed["event_id"]]
            assert event["event_time"] == deed["event_time"] < incident["world_at"]


def test_without_rates_nothing_is_planned() -> None:
    assert not publish_world(CLEAN, INCIDENTS, hours=48)
