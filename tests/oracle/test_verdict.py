"""A verdict that cannot be bad proves nothing: each of the three answers may disagree."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from contracts import STOCK_LEVELS, digest
from tests.oracle.inventory import Book, Row
from tests.oracle.ledger import Audit, Difference, Units
from tests.oracle.quarantine import Listing
from tests.oracle.verdict import Live, Verdict, differing

AT = ("public.sales.receipt.v1", 0)
BOOK = Book(read=12, applied=9, duplicate=2, quarantined=1)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SHELF: Row = {**STOCK_LEVELS.examples[0], "store_id": "S001", "sku": "A"}
OTHER: Row = {**SHELF, "sku": "B"}


def verdict(live: list[Row], oracle: list[Row]) -> Verdict:
    return Verdict(
        live=Live(generation=1, batch=7, inputs={AT: 12}, books={AT: BOOK}, rows=live),
        live_digest=digest(STOCK_LEVELS, live),
        oracle_digest=digest(STOCK_LEVELS, oracle),
        differing=list(differing(live, oracle)),
        books={AT: BOOK},
        audit=Audit(
            pages=1,
            shelves=1,
            dirt={},
            simulated=12,
            quarantined=0,
            differences=[],
            seen={"repeated": (2, 2)},
        ),
        listing=Listing(rejected=1, listed=1, differences=[], behind=0),
    )


def test_answers_that_agree_are_exact() -> None:
    assert verdict([SHELF, OTHER], [OTHER, SHELF]).exact


@pytest.mark.parametrize("field", STOCK_LEVELS.fields, ids=lambda field: field.name)
def test_one_field_of_one_row_is_enough_to_differ(field: object) -> None:
    name = getattr(field, "name", "")
    value = SHELF[name]
    changed = NOON if isinstance(value, datetime) else f"{value}x" if isinstance(value, str) else -1
    assert not verdict([SHELF], [{**SHELF, name: changed}]).exact


def test_rows_that_differ_are_listed_with_both_answers() -> None:
    fewer = {**SHELF, "units_sold": 1}
    assert verdict([fewer], [SHELF]).differing == [(fewer, SHELF)]


def test_a_row_that_one_of_them_lacks_is_listed() -> None:
    found = verdict([SHELF], [SHELF, OTHER])
    assert found.differing == [(None, OTHER)]
    assert not found.exact


def test_books_that_do_not_agree_are_not_exact() -> None:
    found = verdict([SHELF], [SHELF])
    short = {AT: replace(BOOK, applied=8, duplicate=3)}
    assert not replace(found, books=short).exact


def test_a_ledger_that_does_not_agree_is_not_exact() -> None:
    found = verdict([SHELF], [SHELF])
    off = Difference(("S001", "A"), ledger=Units(3, 0), log=Units(2, 0))
    assert not replace(found, audit=replace(found.audit, differences=[off])).exact


def test_a_ledger_that_counts_other_dirt_is_not_exact() -> None:
    found = verdict([SHELF], [SHELF])
    assert not replace(found, audit=replace(found.audit, seen={"repeated": (3, 2)})).exact


def test_before_the_first_page_nothing_is_called_exact() -> None:
    found = verdict([SHELF], [SHELF])
    assert not replace(found, audit=replace(found.audit, pages=0, shelves=0)).exact


def test_without_a_simulator_no_page_is_asked_for() -> None:
    found = verdict([SHELF], [SHELF])
    assert replace(found, audit=replace(found.audit, pages=0, shelves=0, simulated=0)).exact


@pytest.mark.parametrize(
    ("listing", "agree"),
    [
        (Listing(rejected=2, listed=1, differences=["one is not listed"], behind=0), False),
        (Listing(rejected=2, listed=1, differences=[], behind=0), False),
        (Listing(rejected=2, listed=1, differences=[], behind=7), True),
        (Listing(rejected=1, listed=1, differences=["one should not be"], behind=7), False),
    ],
)
def test_a_quarantine_that_does_not_list_all_and_only_is_not_exact(
    listing: Listing, agree: bool
) -> None:
    found = replace(verdict([SHELF], [SHELF]), listing=listing)
    assert (found.agree, found.exact) == (agree, False)
