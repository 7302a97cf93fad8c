from collections import Counter
from collections.abc import Iterator

from contracts import ADJUSTMENTS, INCIDENTS, LEDGER, RECEIPTS, REFUNDS, SHIPMENTS
from generators.event import Publication
from tests.generators.worlds import CLEAN, publish_hours, remember, select_pages

BOOK, TRANSIT = "book_units", "transit_units"

Account = tuple[str, str, str]
"""What is counted: stock by the books or goods on their way; of a store and a sku."""


def list_movements(publication: Publication) -> Iterator[tuple[Account, int]]:
    """What a published event adds to each account."""
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
            assert [book[account] for account in of_store] == [
                published[account] for account in of_store
            ]
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
