"""What is ordered for shelves, by their levels, their moves and open orders."""

from dataclasses import replace

import pytest

from contracts import PROPOSALS, Row
from contracts.times import EPOCH
from services.moves import DAY_MS, KEPT_MS
from services.ordering.decision import (
    Level,
    Limits,
    Order,
    Positions,
    Shelf,
    derive_order_id,
)
from services.ordering.gate import read_review

MINUTE_MS = 60_000
REVIEW_MS = 20 * DAY_MS
SHELF = Shelf("S003", "SKU-00417")
LEVEL = Level(REVIEW_MS, 38, 62, pack_size_units=12, lead_time_days=2)
AT_REVIEWS = replace(LEVEL, review_days=1)


def answer(positions: Positions, minutes: int = 0) -> list[tuple[int, int]]:
    """Minute after the review and units of each order until so many minutes after it."""
    orders = positions.answer(REVIEW_MS + minutes * MINUTE_MS)
    return [((order.moment_ms - REVIEW_MS) // MINUTE_MS, order.units) for order in orders]


def create_positions(units: int, level: Level = LEVEL, shelf: Shelf = SHELF) -> Positions:
    """Before the review that gives the shelf its level; so much moved in the minute before it."""
    positions = Positions(REVIEW_MS - DAY_MS)
    positions.take_change(shelf, REVIEW_MS, units)
    positions.take_review(shelf, units, level)
    return positions


@pytest.mark.parametrize(("units", "ordered"), [(37, [36]), (38, [24]), (39, [])])
def test_a_shelf_at_its_reorder_point_is_filled_up_in_whole_packs(
    units: int, ordered: list[int]
) -> None:
    assert answer(create_positions(units)) == [(0, packs) for packs in ordered]


# 0:00   12:00   24:00
#   8 ... 38 ..... 8
@pytest.mark.parametrize(
    ("minute", "point"),
    [(0, 8), (23, 8), (24, 9), (720, 38), (743, 37), (744, 37), (745, 36), (1_439, 8), (1_440, 8)],
)
def test_the_point_of_a_minute_lies_on_the_line_between_two_points(minute: int, point: int) -> None:
    """Also on a day without a review."""
    moving = replace(LEVEL, points=(8, 38, 8))
    for day in (0, 1):
        assert moving.find_point(REVIEW_MS + day * DAY_MS + minute * MINUTE_MS) == point


@pytest.mark.parametrize(
    ("written", "points"), [(None, ()), ([{"units": 8}, {"units": 38}], (8, 38))]
)
def test_a_review_without_points_has_one_for_the_day(
    written: list[Row] | None, points: tuple[int, ...]
) -> None:
    row = {**dict.fromkeys(("measure", "lead_time_hours", "review_days")), **PROPOSALS.examples[0]}
    row |= {"review_at": EPOCH, "reorder_points": written}
    assert read_review(row).points == points


def test_a_shelf_is_ordered_by_the_point_of_the_minute_and_up_to_a_lot_beyond_it() -> None:
    """The point is 9 then; 9 + 24 - 9 are two packs."""
    positions = create_positions(100, replace(LEVEL, points=(8, 38, 8)))
    positions.take_change(SHELF, REVIEW_MS + 24 * MINUTE_MS, -90)
    assert answer(positions, 24) == []
    positions.take_change(SHELF, REVIEW_MS + 25 * MINUTE_MS, -1)
    assert answer(positions, 25) == [(25, 24)]


def test_between_reviews_a_shelf_is_ordered_in_the_minute_in_which_it_crosses_its_point() -> None:
    positions = create_positions(50)
    for minute, units in ((1, -5), (3, -6), (4, -1), (5, -1)):
        positions.take_change(SHELF, REVIEW_MS + minute * MINUTE_MS, units)
    assert answer(positions, 5) == [(4, 24)]
    positions.take_change(SHELF, REVIEW_MS + 9 * MINUTE_MS, -25)
    assert answer(positions, 9) == [(9, 36)], "61 - 25: what is on order counts"


def test_a_level_of_reviews_is_looked_at_by_reviews_only() -> None:
    positions = create_positions(50, AT_REVIEWS)
    positions.take_change(SHELF, REVIEW_MS + MINUTE_MS, -40)
    assert answer(positions, 5) == []
    positions.take_review(SHELF, -40, replace(AT_REVIEWS, since_ms=REVIEW_MS + DAY_MS))
    assert answer(positions, 24 * 60) == [(24 * 60, 60)]


def test_a_shelf_that_opens_has_levels_until_its_first_review() -> None:
    positions = Positions(REVIEW_MS)
    opened_ms = REVIEW_MS + 480 * MINUTE_MS
    opening = replace(LEVEL, since_ms=opened_ms, reorder_point_units=40, order_up_to_units=50)
    positions.take_change(SHELF, opened_ms, 50, opening)
    positions.take_change(SHELF, opened_ms + MINUTE_MS, -10)
    assert answer(positions, 600) == [(481, 12)]
    positions.take_review(SHELF, 40, replace(LEVEL, since_ms=REVIEW_MS + DAY_MS))
    assert answer(positions, 24 * 60) == [], "52 are above the new point"


def test_whoever_answers_later_or_again_orders_the_same() -> None:
    """Minute by minute, at once after a pause, or by another gate from the middle on."""
    moves = [(minute, -(minute % 7)) for minute in range(1, 200)]

    def take(positions: Positions) -> Positions:
        for minute, units in moves:
            positions.take_change(SHELF, REVIEW_MS + minute * MINUTE_MS, units)
        return positions

    at_once = answer(take(create_positions(60)), 200)
    assert len(at_once) > 5
    patient = take(create_positions(60))
    assert [order for minute in range(201) for order in answer(patient, minute)] == at_once

    first = take(create_positions(60))
    before = answer(first, 100)
    other = take(Positions(REVIEW_MS + 100 * MINUTE_MS))
    other.take_review(SHELF, 60, LEVEL)
    for _, units in before:
        other.take_order(SHELF, units)
    assert before + answer(other, 200) == at_once


def test_what_moved_before_the_last_answer_is_in_the_position() -> None:
    """Of days by their reviews, since the last one by minutes; a newer row corrects an older."""
    positions = Positions(REVIEW_MS + 10 * MINUTE_MS)
    for review_ms, units in ((REVIEW_MS - DAY_MS, 99), (REVIEW_MS - DAY_MS, 100), (REVIEW_MS, -30)):
        positions.take_review(SHELF, units, replace(LEVEL, since_ms=review_ms))
        positions.take_change(SHELF, review_ms, units)
    positions.take_order(SHELF, 12)
    for units in (-40, -41):
        positions.take_change(SHELF, REVIEW_MS + 5 * MINUTE_MS, units)
    positions.take_change(SHELF, REVIEW_MS + 11 * MINUTE_MS, -3)
    assert answer(positions, 11) == [(11, 24)], "100 - 30 + 12 - 41 - 3 = 38"


def test_a_correction_of_what_is_forgotten_asks_for_all_rows() -> None:
    positions = create_positions(50)
    answer(positions)
    positions.answer(REVIEW_MS + KEPT_MS)
    positions.moves.forget()
    positions.take_change(SHELF, REVIEW_MS + MINUTE_MS, -1)
    assert not positions.moves.is_outdated
    positions.take_change(SHELF, REVIEW_MS, 51)
    assert positions.moves.is_outdated


def test_an_order_is_named_by_shelf_and_minute_alone() -> None:
    [large], [small] = (create_positions(units).answer(REVIEW_MS) for units in (0, 30))
    assert large.units != small.units
    assert large.order_id == small.order_id == derive_order_id(SHELF, REVIEW_MS)
    assert derive_order_id(SHELF, REVIEW_MS + MINUTE_MS) != large.order_id
    assert derive_order_id(Shelf("S004", SHELF.sku), REVIEW_MS) != large.order_id


def test_a_store_orders_so_much_and_the_most_urgent_first() -> None:
    shelves = [Shelf("S003", f"SKU-{number}") for number in range(5)]
    positions = Positions(
        REVIEW_MS - DAY_MS, Limits(orders_per_store_max=2, units_per_order_max=30)
    )
    other = Shelf("S004", "SKU-0")
    for shelf, units in ((other, 38), *((shelf, 30 - n) for n, shelf in enumerate(shelves))):
        positions.take_change(shelf, REVIEW_MS, units)
        positions.take_review(shelf, units, LEVEL)
    orders: list[Order] = positions.answer(REVIEW_MS)
    assert [order.shelf for order in orders] == [shelves[4], shelves[3], other]
    assert all(order.units == 24 for order in orders)


@pytest.mark.parametrize("more", [-1, 0, 1, 10_000_000])
def test_what_is_sold_by_a_measure_has_a_bound_of_its_own(more: int) -> None:
    limits = Limits()
    most = limits.thousandths_per_order_max
    by_piece = Level(REVIEW_MS, 0, most + more, pack_size_units=1, lead_time_days=2)
    by_measure = replace(by_piece, measure="kilogram")
    assert answer(create_positions(0, by_measure)) == [(0, min(most + more, most))]
    assert answer(create_positions(0, by_piece)) == [(0, limits.units_per_order_max)]
