from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from contracts import ADJUSTMENTS, INCIDENTS, LEDGER, RECEIPTS, REFUNDS, SHIPMENTS
from generators.event import UNREADABLE, Publication
from generators.ticks import TICKS_PER_HOUR
from tests.generators.worlds import CLEAN, SMALL, publish_hours, remember, select_pages

BOOK, TRANSIT = "book_units", "transit_units"

Account = tuple[str, str, str]
"""What is counted: stock by the books or goods on their way; of a store and a sku."""


def list_movements(publication: Publication) -> Iterator[tuple[Account, int]]:
    """What a published event adds to each account."""
    event = publication.event
    store_id = event.get("store_id", "")
    if publication.topic == RECEIPTS.name:
        for line in event["lines"]:
            yield (BOOK, store_id, line["sku"]), -line["units"]
    elif publication.topic == REFUNDS.name:
        for line in event["lines"]:
            yield (BOOK, store_id, line["sku"]), line["units"]
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
            assert [book[account] for account in of_store] == [published[one] for one in of_store]
        elif publication.topic != INCIDENTS.name and publication.event["event_id"] not in seen:
            seen.add(publication.event["event_id"])
            for account, moved_units in list_movements(publication):
                published[account] += moved_units
    assert pages_seen > 24 * 60
    assert book == published
    assert {account[0] for account in published} == {BOOK, TRANSIT}


def test_a_page_names_the_positions_that_it_is_true_at() -> None:
    published: Counter[tuple[str, int]] = Counter()
    place: dict[tuple[str, str], int] = {}
    for publication in publish_hours(8):
        where = publication.topic, publication.partition
        if publication.topic == LEDGER.name:
            for position in publication.event["positions"]:
                partition = place.get((position["topic"], publication.key))
                if partition is not None:
                    assert position["records"] == published[position["topic"], partition]
        else:
            place[publication.topic, publication.key] = publication.partition
            published[where] += 1


def test_unseen_theft_parts_the_book_from_the_shelf() -> None:
    """In a world without dirt the book lacks nothing: what is left is theft nobody has counted."""
    gap_units = 0
    widest_units = 0
    for tick in remember(CLEAN).list_ticks(48):
        for publication in select_pages(tick):
            for moved in publication.event["movements"]:
                gap_units += moved["book_units"] - moved["physical_units"]
            assert gap_units >= 0
        widest_units = max(widest_units, gap_units)
    assert 0 < gap_units < 2 * widest_units


def test_a_quiet_store_turns_a_page_every_ten_ticks() -> None:
    ticks: dict[str, list[int]] = {}
    for publication in select_pages(publish_hours(24)):
        ticks.setdefault(publication.key, []).append(publication.event["tick"])
    assert len(ticks) == SMALL.stores
    for of_store in ticks.values():
        assert max(b - a for a, b in pairwise(of_store)) <= 10
    assert any(len(of_store) < 24 * TICKS_PER_HOUR for of_store in ticks.values())


def test_what_nobody_can_read_is_listed_apart() -> None:
    unreadable: Counter[Account] = Counter()
    for publication in publish_hours(24):
        if publication.topic == LEDGER.name:
            for moved in publication.event["movements"]:
                store_id, sku = publication.key, moved["sku"]
                unreadable[BOOK, store_id, sku] -= moved["unreadable_units"]
                unreadable[TRANSIT, store_id, sku] -= moved["unreadable_transit_units"]
        elif publication.dirt in UNREADABLE:
            for account, moved_units in list_movements(publication):
                unreadable[account] += moved_units
    assert len(unreadable) > 20
    assert not any(unreadable.values())
