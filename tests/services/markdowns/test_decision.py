"""What is marked down and what no longer, by proposals, stock and published prices."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from services.markdowns.decision import (
    AHEAD_MS,
    HALF_HOUR_MS,
    Decision,
    Limits,
    Markdowns,
    Proposal,
    derive_event_id,
)
from services.markdowns.prices import BEGINS, ENDS, PriceChange
from services.moves import DAY_MS

MORNING_MS = 20 * DAY_MS + 10 * 60 * 60_000
MILK, WINE = "SKU-MILK", "SKU-WINE"
SLOW = Proposal(slow_above_units=500, enough_units=80, price_cents=200, markdown_price_cents=150)
LIMITS = Limits(days_max=3.0, days_min_between=1.0)
HALF_HOURS_PER_DAY = 48


def to_ms(half_hours: int) -> int:
    return MORNING_MS + half_hours * HALF_HOUR_MS


def set_price(
    markdowns: Markdowns, cents: int, since_ms: int = 0, sku: str = MILK, published_ms: int = 0
) -> None:
    """Somebody else sets a price."""
    name = f"{sku}-{cents}-{since_ms}"
    markdowns.prices.take(PriceChange(name, 0, sku, cents, since_ms, published_ms))


def create_markdowns(limits: Limits = LIMITS, skus: Iterable[str] = (MILK,)) -> Markdowns:
    """Products of 200 cents, and nothing answered since the morning."""
    markdowns = Markdowns(MORNING_MS, limits)
    for sku in skus:
        set_price(markdowns, 200, sku=sku)
    return markdowns


def tell(
    markdowns: Markdowns, half_hours: int, moved: int, proposal: Proposal = SLOW, sku: str = MILK
) -> None:
    """The row of the half-hour that ends so long after the morning."""
    markdowns.moves.take(to_ms(half_hours), sku, moved)
    markdowns.take_proposal(to_ms(half_hours), "half-hour", sku, proposal)


def answer(markdowns: Markdowns, half_hours: int) -> list[tuple[int, str, int]]:
    """The decisions until then: half-hours, kind and price of each."""
    return describe(markdowns.answer(to_ms(half_hours), to_ms(half_hours)))


def describe(decisions: Iterable[Decision]) -> list[tuple[int, str, int]]:
    return [
        (
            (decision.moment_ms - MORNING_MS) // HALF_HOUR_MS,
            "begins" if decision.event_id.startswith(BEGINS) else "ends",
            decision.price_cents,
        )
        for decision in decisions
    ]


@pytest.mark.parametrize(("units", "begun"), [(499, []), (500, []), (501, [(1, "begins", 150)])])
def test_a_stock_above_what_is_slow_is_marked_down(
    units: int, begun: list[tuple[int, str, int]]
) -> None:
    markdowns = create_markdowns()
    tell(markdowns, 1, units)
    assert answer(markdowns, 1) == begun


@pytest.mark.parametrize(
    ("units", "ended"),
    [(81, []), (80, [(49, "ends", 200)]), (79, [(49, "ends", 200)])],
)
def test_a_markdown_ends_once_the_stock_is_enough(
    units: int, ended: list[tuple[int, str, int]]
) -> None:
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    answer(markdowns, 1)
    tell(markdowns, 49, units - 501)
    assert answer(markdowns, 49) == ended


@pytest.mark.parametrize("half_hours", [47, 48, 49])
def test_between_two_changes_of_a_product_is_a_day(half_hours: int) -> None:
    """Begun by the first half-hour; a day after it ends at 49."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    assert len(answer(markdowns, 1)) == 1
    tell(markdowns, half_hours, -501)
    ended = answer(markdowns, half_hours)
    assert ended == ([(49, "ends", 200)] if half_hours == 49 else [])


def test_a_markdown_does_not_begin_again_within_a_day() -> None:
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    tell(markdowns, 49, -500)
    for half_hours in (50, 96, 97):
        tell(markdowns, half_hours, 1_000)
    assert answer(markdowns, 97) == [(1, "begins", 150), (49, "ends", 200), (97, "begins", 150)]


@pytest.mark.parametrize(("days_max", "ends_after"), [(3.0, 145), (2.0, 97), (0.5, 49)])
def test_a_markdown_ends_after_so_many_days(days_max: float, ends_after: int) -> None:
    markdowns = create_markdowns(replace(LIMITS, days_max=days_max))
    tell(markdowns, 1, 501)
    assert answer(markdowns, ends_after - 1) == [(1, "begins", 150)]
    assert answer(markdowns, ends_after) == [(ends_after, "ends", 200)]


@pytest.mark.parametrize(
    "proposal",
    [
        SLOW._replace(markdown_price_cents=None),
        SLOW._replace(price_cents=None),
        SLOW._replace(price_cents=199),
    ],
)
def test_what_would_not_be_cheaper_than_what_holds_then_is_not_marked_down(
    proposal: Proposal,
) -> None:
    markdowns = create_markdowns()
    tell(markdowns, 1, 501, proposal)
    assert answer(markdowns, 1) == []


def test_a_product_whose_price_nobody_set_is_not_marked_down() -> None:
    markdowns = create_markdowns(skus=())
    tell(markdowns, 1, 501)
    assert answer(markdowns, 1) == []


@pytest.mark.parametrize(("early_ms", "begun"), [(0, False), (-1, True)])
def test_no_markdown_takes_the_place_of_a_price_that_is_about_to_change(
    early_ms: int, begun: bool
) -> None:
    """Until the very moment from which it would hold."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    set_price(markdowns, 250, since_ms=to_ms(1) + AHEAD_MS - early_ms)
    assert bool(answer(markdowns, 1)) == begun


def test_a_price_that_is_published_later_changes_no_earlier_decision() -> None:
    """The gate that comes late knows of it, and decides as one that did not."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    set_price(markdowns, 250, since_ms=to_ms(1), published_ms=to_ms(1))
    assert answer(markdowns, 1) == [(1, "begins", 150)]


def test_a_price_that_others_set_ends_a_markdown() -> None:
    """There is nothing to take back, and the next one begins from that price."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    assert answer(markdowns, 1) == [(1, "begins", 150)]
    set_price(markdowns, 300, since_ms=to_ms(20), published_ms=to_ms(2))
    tell(markdowns, 60, -501)
    assert answer(markdowns, 60) == []
    tell(markdowns, 61, 900, SLOW._replace(price_cents=300, markdown_price_cents=225))
    assert answer(markdowns, 61) == [(61, "begins", 225)]


def test_of_two_prices_from_one_moment_on_the_later_one_counts() -> None:
    markdowns = create_markdowns()
    for cents in (250, 260):
        set_price(markdowns, cents, since_ms=to_ms(-1))
    tell(markdowns, 1, 501, SLOW._replace(price_cents=260))
    assert answer(markdowns, 1) == [(1, "begins", 150)]


def test_a_copy_of_a_price_ends_no_markdown() -> None:
    """It would hold later than the first one, by its notice."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    answer(markdowns, 1)
    usual = markdowns.prices.find_usual(MILK, to_ms(1), to_ms(1))
    assert usual is not None
    markdowns.prices.take(usual._replace(since_ms=to_ms(9), published_ms=to_ms(8)))
    tell(markdowns, 49, -501)
    assert answer(markdowns, 49) == [(49, "ends", 200)]


def test_a_markdown_ends_at_the_price_that_held_before_it() -> None:
    markdowns = create_markdowns()
    set_price(markdowns, 180, since_ms=to_ms(-5))
    tell(markdowns, 1, 501, SLOW._replace(price_cents=180))
    tell(markdowns, 49, -501)
    assert answer(markdowns, 49) == [(1, "begins", 150), (49, "ends", 180)]


@pytest.mark.parametrize("slow_above_units", [500, 10_000])
def test_a_day_says_what_half_hours_are_too_few_for(slow_above_units: int) -> None:
    """At midnight both are looked at, and the day's price counts."""
    midnight = 28
    markdowns = create_markdowns()
    tell(markdowns, midnight, 501, SLOW._replace(slow_above_units=slow_above_units))
    markdowns.moves.take_day(to_ms(midnight), MILK, 501)
    day = SLOW._replace(markdown_price_cents=149)
    markdowns.take_proposal(to_ms(midnight), "day", MILK, day)
    assert answer(markdowns, midnight) == [(midnight, "begins", 149)]
    assert markdowns.moves.units[MILK] == 501, "the day moved what its half-hours moved"


def test_days_before_the_last_answer_and_half_hours_since_are_the_stock() -> None:
    markdowns = create_markdowns()
    midnight_ms = 20 * DAY_MS
    for ends_ms in (midnight_ms - DAY_MS, midnight_ms):
        markdowns.moves.take_day(ends_ms, MILK, 300)
        markdowns.moves.take(ends_ms, MILK, 7)
    markdowns.moves.take_day(midnight_ms + DAY_MS, MILK, -1)
    tell(markdowns, 0, -100)
    tell(markdowns, 0, -99)
    tell(markdowns, 1, 0)
    assert answer(markdowns, 1) == [(1, "begins", 150)], "300 + 300 - 99 = 501"


def test_the_slowest_are_marked_down_first_and_no_more_than_so_many() -> None:
    skus = [f"SKU-{number}" for number in range(6)]
    markdowns = create_markdowns(replace(LIMITS, begun_max=2, marked_max=3), skus)

    def tell_all(half_hours: int) -> list[str]:
        for number, sku in enumerate(skus):
            tell(markdowns, half_hours, 1_000 + number, sku=sku)
        return [each.sku for each in markdowns.answer(to_ms(half_hours), to_ms(half_hours))]

    assert tell_all(1) == ["SKU-5", "SKU-4"]
    assert tell_all(2) == ["SKU-3"], "three are marked down"
    assert tell_all(3) == []
    tell(markdowns, 49, -10_000, sku="SKU-4")
    tell(markdowns, 49, 0, sku="SKU-2")
    decisions = markdowns.answer(to_ms(49), to_ms(49))
    kinds = [(each.sku, each.event_id.startswith(ENDS)) for each in decisions]
    assert kinds == [("SKU-4", True), ("SKU-2", False)], "the room of what ends is free"


def test_whoever_answers_later_or_again_decides_the_same() -> None:
    """Half-hour by half-hour, at once after a pause, or by another gate from the middle on."""

    def take(markdowns: Markdowns) -> Markdowns:
        for half_hours in range(1, 200):
            tell(markdowns, half_hours, 700 if half_hours % 60 == 1 else -11)
        set_price(markdowns, 210, since_ms=to_ms(90), published_ms=to_ms(70))
        return markdowns

    at_once = answer(take(create_markdowns()), 199)
    assert {kind for _, kind, _ in at_once} == {"begins", "ends"}
    patient = take(create_markdowns())
    assert [each for n in range(1, 200) for each in answer(patient, n)] == at_once

    first = take(create_markdowns())
    before = first.answer(to_ms(100), to_ms(100))
    other = Markdowns(to_ms(100), LIMITS)
    other.moves.take_day(20 * DAY_MS, MILK, 0)
    set_price(other, 200)
    for decision in before:
        other.prices.take(decision.publish(to_ms(100)))
    other.moves.units.update(first.moves.units)
    for half_hours in range(101, 200):
        other.moves.take(to_ms(half_hours), MILK, 700 if half_hours % 60 == 1 else -11)
    take(other)
    assert describe(before) + answer(other, 199) == at_once


def test_a_change_is_announced_and_is_named_by_product_and_half_hour_alone() -> None:
    markdowns = create_markdowns(skus=(MILK, WINE))
    tell(markdowns, 1, 501)
    tell(markdowns, 1, 501, SLOW._replace(markdown_price_cents=1), WINE)
    milk, wine = markdowns.answer(to_ms(1), to_ms(1))
    assert milk.effective_ms == to_ms(1) + AHEAD_MS
    assert milk.event_id == derive_event_id(BEGINS, MILK, to_ms(1))
    assert len({milk.event_id, wine.event_id, derive_event_id(BEGINS, MILK, to_ms(2))}) == 3


def test_a_change_that_is_published_late_holds_later_and_is_taken_back_all_the_same() -> None:
    """A price of others that holds in between has not ended it."""
    markdowns = create_markdowns()
    tell(markdowns, 1, 501)
    set_price(markdowns, 190, since_ms=to_ms(10), published_ms=to_ms(2))
    tell(markdowns, 50, -501)
    late_ms = to_ms(20)
    assert describe(markdowns.answer(late_ms, late_ms)) == [(1, "begins", 150)]
    assert answer(markdowns, 50) == [(50, "ends", 190)]
