"""Which changes of rows are notifications: those that begin or cease to match, and no others."""

from datetime import timedelta
from typing import Any

import pytest

from contracts import STOCK_LEVELS, STORE_SALES, Contract, encode, encode_key
from services.api.store.changelog import Record
from services.subscriptions import matching
from services.subscriptions.matching import Matching, TooManyRows
from services.subscriptions.records import Notification
from tests.services.subscriptions.made import create_subscription
from tests.services.writing import create_shelf

LOW = "units_on_hand<=5"


def subscribe(*filters: str, view: Contract = STOCK_LEVELS) -> Matching:
    return Matching(create_subscription(*filters, view=view), view)


def record(value: dict[str, Any], offset: int = 0, view: Contract = STOCK_LEVELS) -> Record:
    return Record(("topic", 0), offset, encode_key(view, value), encode(view, value), 7)


def shelf(sku: str, units: int, version: int = 1) -> Record:
    return record(create_shelf(1, sku, units, version), version)


def summarize(one: Notification | None) -> tuple[str, bool] | None:
    return None if one is None else (one.row_key, one.matches)


@pytest.fixture
def rows() -> Matching:
    return subscribe(LOW)


def test_a_row_is_told_when_it_begins_and_when_it_ceases_to_match(rows: Matching) -> None:
    story = [(9, None), (5, True), (4, None), (6, False), (8, None), (0, True)]
    for version, (units, expected) in enumerate(story, 1):
        told = rows.follow(1, shelf("A", units, version))
        assert summarize(told) == (None if expected is None else ("S001/A", expected)), units


def test_without_a_filter_a_row_is_told_when_it_is_there_first() -> None:
    rows = subscribe()
    assert summarize(rows.follow(1, shelf("A", 9, 1))) == ("S001/A", True)
    assert rows.follow(1, shelf("A", 8, 2)) is None


def test_a_row_written_twice_or_an_older_one_after_a_newer_one_changes_nothing(
    rows: Matching,
) -> None:
    assert rows.follow(1, shelf("A", 3, 2)) is not None
    assert rows.follow(1, shelf("A", 3, 2)) is None
    assert rows.follow(1, shelf("A", 9, 1)) is None
    assert summarize(rows.follow(1, shelf("A", 9, 3))) == ("S001/A", False)


def test_a_record_without_a_value_says_nothing() -> None:
    assert subscribe().follow(1, Record(("topic", 0), 0, b"S001/A", None)) is None


def test_another_generation_is_compared_by_what_was_said_of_each_row() -> None:
    """Only what the other generation says otherwise is a notification, whatever lies between."""
    rows = subscribe(LOW)
    for sku, units in (("same", 1), ("other", 2), ("gone", 3), ("high", 9)):
        rows.follow(1, shelf(sku, units))
    made = rows.compare(
        2,
        [
            *(shelf("same", 8, 1), shelf("same", 1, 2)),
            *(shelf("other", 2, 1), shelf("other", 7, 2)),
            *(shelf("high", 1, 1), shelf("high", 9, 2)),
            shelf("new", 5),
        ],
    )
    assert {summarize(one) for one in made} == {
        ("S001/other", False),
        ("S001/new", True),
        ("S001/gone", False),
    }
    assert rows.follow(2, shelf("same", 1, 3)) is None
    assert summarize(rows.follow(2, shelf("gone", 1, 1))) == ("S001/gone", True)


def test_the_comparison_goes_by_version_and_not_by_the_order_of_records(rows: Matching) -> None:
    made = list(rows.compare(1, [shelf("A", 2, 5), shelf("A", 9, 4)]))
    assert [summarize(one) for one in made] == [("S001/A", True)]


def test_a_comparison_that_is_repeated_finds_nothing_more(rows: Matching) -> None:
    changes = [shelf("A", 2, 5), shelf("B", 3, 1), shelf("C", 9, 1)]
    first = list(rows.compare(1, changes))
    again = subscribe(LOW)
    for one in first:
        again.remember(one)
    assert len(first) == 2
    assert list(again.compare(1, changes)) == []


def test_rows_that_the_view_drops_are_forgotten_and_not_told() -> None:
    rows = subscribe(view=STORE_SALES)
    value = dict(STORE_SALES.examples[0])
    old = record(value, view=STORE_SALES)
    assert STORE_SALES.retention is not None
    newer = {**value, "window_start": value["window_start"] + STORE_SALES.retention}
    newest = {**newer, "window_start": newer["window_start"] + timedelta(minutes=1)}
    assert rows.follow(1, old) is not None
    assert rows.follow(1, record(newer, view=STORE_SALES)) is not None
    assert rows.drop_expired() == []
    assert rows.follow(1, record(newest, view=STORE_SALES)) is not None
    assert rows.drop_expired() == [old.key.decode()]
    assert rows.follow(1, old) is None
    assert len(rows.known) == 2


def test_so_many_rows_are_remembered_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "ROWS_MAX", 3)
    rows = subscribe(LOW)
    for sku in ("A", "B", "C", "A"):
        rows.follow(1, shelf(sku, 1))
    rows.follow(1, shelf("D", 9))
    with pytest.raises(TooManyRows, match="at most 3 rows"):
        rows.follow(1, shelf("D", 1, 2))
    passing = [shelf(sku, units, version) for version, units in ((1, 1), (2, 9)) for sku in "ABCDE"]
    assert list(subscribe(LOW).compare(1, passing[:3] + passing[5:])) == []
    with pytest.raises(TooManyRows):
        list(subscribe(LOW).compare(1, passing))
