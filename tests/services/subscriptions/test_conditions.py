"""A filter compares fields of a view with values of their types, and refuses all else."""

import pytest

from contracts import ALERTS, STOCK_LEVELS, VISITS
from services.api.store.tables import Table
from services.subscriptions.conditions import (
    CONDITION_CHARACTERS_MAX,
    CONDITIONS_MAX,
    BadFilter,
    parse_filter,
)
from tests.services.writing import MORNING, create_shelf

SHELF = Table(STOCK_LEVELS).to_stored(create_shelf(3, "A", 5))


def holds(*filters: str) -> bool:
    return all(one.holds(SHELF) for one in parse_filter(STOCK_LEVELS, filters))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("units_on_hand<=5", True),
        ("units_on_hand<5", False),
        ("units_on_hand>=5", True),
        ("units_on_hand>5", False),
        ("units_on_hand=5", True),
        ("units_on_hand!=5", False),
        ("units_on_hand>-6", True),
        ("store_id=S003", True),
        ("store_id!=S003", False),
        ("sku=", False),
        (f"last_event_time<={MORNING.isoformat()}", True),
        ("last_event_time>2026-03-02T08:00:00Z", False),
    ],
)
def test_a_condition_compares_a_field_with_a_value(text: str, expected: bool) -> None:
    assert holds(text) is expected


def test_a_row_matches_if_it_fulfils_all_conditions() -> None:
    assert holds()
    assert holds("store_id=S003", "units_on_hand<=5")
    assert not holds("store_id=S003", "units_on_hand<=4")


def test_an_absent_value_fulfils_no_condition() -> None:
    absent = next(field.name for field in (*ALERTS.fields, *VISITS.fields) if not field.required)
    view = ALERTS if absent in {field.name for field in ALERTS.fields} else VISITS
    row = [None] * len(view.fields)
    for sign in ("=", "!="):
        [one] = parse_filter(view, [f"{view.fields[0].name}{sign}x"])
        assert not one.holds(row)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a field"),
        ("units_on_hand", "a field"),
        ("Units<3", "a field"),
        ("unit<3", "one of the fields store_id"),
        ("units_on_hand<three", "a whole number"),
        ("units_on_hand<3.5", "a whole number"),
        ("store_id<S003", "no order"),
        ("last_event_time<2026-03-02", "with its zone"),
        ("last_event_time<soon", "with its zone"),
    ],
)
def test_what_is_no_condition_is_refused_with_what_was_expected(text: str, why: str) -> None:
    with pytest.raises(BadFilter, match=why):
        parse_filter(STOCK_LEVELS, [text])


def test_a_filter_has_a_size() -> None:
    parse_filter(STOCK_LEVELS, ["units_on_hand<5"] * CONDITIONS_MAX)
    with pytest.raises(BadFilter, match="at most 8 conditions, found 9"):
        parse_filter(STOCK_LEVELS, ["units_on_hand<5"] * (CONDITIONS_MAX + 1))
    longest = "sku=" + "A" * (CONDITION_CHARACTERS_MAX - 4)
    parse_filter(STOCK_LEVELS, [longest])
    with pytest.raises(BadFilter, match="at most 400 characters, found 401"):
        parse_filter(STOCK_LEVELS, [f"{longest}A"])
