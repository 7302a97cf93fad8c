"""Promotions in reviews: what they add to the days behind, and to the days ahead."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.ops.verify.reviews import FIRST, STEADY, adjust, compute_first, compute_proposals, milk
from tests.timeline import MILK, PRICES, WINE, Timeline, parse_clock


#   4th         | 5th
#    [  half price ]          from 10:00 to 20:00, at which four times as much is wanted
#   *8  *8    *8 | *8         of which two are what the usual price would have sold
#   9:59 10:00 19:59 20:00
@pytest.mark.parametrize(
    ("clock", "usual"), [("9:59:59", 8), ("10:00", 2), ("19:59:59", 2), ("20:00", 8)]
)
def test_what_a_promotion_sells_counts_as_what_the_usual_price_would_have_sold(
    clock: str, usual: int
) -> None:
    """A week's mean over three days."""
    shop = Timeline()
    shop.plan_promotion(MILK, parse_clock("10:00"), parse_clock("20:00"), PRICES[MILK] // 2)
    for _ in range(7):
        shop.sell(parse_clock(clock), milk(8))
    assert compute_first(shop)["sold_units"] == 56
    assert compute_first(shop)["reorder_point_units"] == 3 * usual


def test_each_line_counts_as_whole_thousandths() -> None:
    """At 91 of 100, 1.54 times as much is wanted: a unit is 0.649, seven of them lack the rest."""
    shop = Timeline()
    shop.plan_promotion(MILK, parse_clock("10:00"), parse_clock("20:00"), 91)
    for _ in range(7):
        shop.sell(parse_clock("12:00"), milk(1))
    in_thousandths = replace(STEADY, swing=999.9 / 3 - 1)  # of the mean: 649, and not 649.35
    assert compute_proposals(shop, in_thousandths)[0]["reorder_point_units"] == 649


@pytest.mark.parametrize(("published", "usual"), [("9:50", 2), ("9:50:01", 8), ("12:00", 8)])
def test_a_plan_without_notice_holds_ten_minutes_after_it_was_published(
    published: str, usual: int
) -> None:
    shop = Timeline()
    shop.plan_promotion(
        MILK,
        parse_clock("9:00"),
        parse_clock("20:00"),
        50,
        effective_at=parse_clock("9:00"),
        published=parse_clock(published),
    )
    for _ in range(7):
        shop.sell(parse_clock("10:00"), milk(8))
    assert compute_first(shop)["reorder_point_units"] == 3 * usual


# Seven a week, four times as many while it lasts; the next orders' goods come after three days.
@pytest.mark.parametrize(
    ("starts", "ends", "worth"),
    [
        (-2, 0, 3),  # over when the review begins
        (0, 1, 6),
        (-2, 2, 9),
        (1, 9, 9),
        (0, 3, 12),
        (3, 5, 3),  # begins when the goods are there
    ],
)
def test_a_review_expects_what_is_planned(starts: int, ends: int, worth: int) -> None:
    shop = Timeline()
    begins, over = (FIRST + timedelta(days=days) for days in (starts, ends))
    shop.sell(parse_clock("0:00") - timedelta(days=1, hours=12), milk(7))
    shop.plan_promotion(
        MILK, begins, over, 50, effective_at=min(begins, parse_clock("12:00")) - timedelta(hours=1)
    )
    adjust(shop, parse_clock("13:00"), 5, "count")
    proposal = {row["review_at"]: row for row in compute_proposals(shop)}[FIRST]
    assert (proposal["sold_units"], proposal["reorder_point_units"]) == (7, worth)


def test_a_review_knows_the_plan_that_the_newest_event_knew() -> None:
    """Nothing happened since it was made: it is as unknown live as it is replayed."""
    shop = Timeline()
    shop.sell(parse_clock("10:00"), milk(7))
    shop.plan_promotion(
        MILK, FIRST, FIRST + timedelta(days=3), 50, effective_at=parse_clock("12:00")
    )
    assert compute_first(shop)["reorder_point_units"] == 3
    adjust(shop, parse_clock("12:10"), 5, "count")
    assert compute_first(shop)["reorder_point_units"] == 12


def test_a_newer_plan_takes_over() -> None:
    shop = Timeline()
    shop.plan_promotion(
        MILK, FIRST, FIRST + timedelta(days=3), 50, effective_at=parse_clock("8:00")
    )
    shop.plan_promotion(
        MILK, FIRST, FIRST + timedelta(days=1), 50, effective_at=parse_clock("9:00")
    )
    shop.sell(parse_clock("10:00"), milk(7))
    assert compute_first(shop)["reorder_point_units"] == 6


def test_the_plan_of_a_product_that_sold_nothing_says_nothing() -> None:
    """Nor does it for another product."""
    shop = Timeline()
    shop.plan_promotion(MILK, FIRST, FIRST + timedelta(days=3), 50)
    adjust(shop, parse_clock("12:00"), 5, "count")
    shop.sell(parse_clock("12:00"), (WINE, 7, 1_000))
    proposals = {row["sku"]: row for row in compute_proposals(shop) if row["review_at"] == FIRST}
    assert (proposals[MILK]["reorder_point_units"], proposals[WINE]["reorder_point_units"]) == (
        0,
        3,
    )
