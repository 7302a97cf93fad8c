"""Reviews of hand-drawn timelines: oracle and pipeline propose what one counts oneself."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import (
    ADJUSTMENTS,
    POSITION_CHANGES,
    PRODUCTS,
    PROPOSALS,
    SHIPMENTS,
    Contract,
)
from ops.verify.inventory import Row
from ops.verify.oracles import ReorderOracle
from pipelines.reorder.pipeline import PIPELINE
from pipelines.reorder.policy import Policy
from pipelines.reorder.transform import build_line_columns, build_proposals
from tests.pipelines.log import Examples
from tests.timeline import APPLES, DAY, LEEDS, MILK, PRICES, WINE, parse_clock

FIRST = DAY + timedelta(days=1)
"""The midnight after the timelines' day."""
STEADY = Policy(review_days=1, safety=0.0, weekdays=(10,) * 7, trust_units=1e12, late_hours=0)
"""All days and hours are alike."""


def compute_proposals(
    shop: Examples, policy: Policy = STEADY, view: Contract = PROPOSALS
) -> list[Row]:
    pipeline = replace(
        PIPELINE,
        line_columns=partial(build_line_columns, policy),
        to_rows=partial(build_proposals, policy=policy),
    )
    expected = ReorderOracle(shop.records, policy).compute_views()[view.name]
    return shop.judge(pipeline, expected, pipeline.writes.index(view))


def select_fields(shop: Examples, *fields: str) -> list[tuple[object, ...]]:
    return [tuple(row[field] for field in fields) for row in compute_proposals(shop)]


def compute_first(shop: Examples, policy: Policy = STEADY) -> Row:
    """What the first review of the only shelf says."""
    return compute_proposals(shop, policy)[0]


def milk(units: int) -> tuple[str, int, int]:
    return MILK, units, 100


def adjust(shop: Examples, happened: datetime, units: int, reason: str) -> None:
    shop.put(ADJUSTMENTS, happened, store_id=LEEDS, sku=MILK, units=units, reason=reason)


#   4th      | 5th | 6th | … | 11th | 12th
#    * 3 sold|  r     r          r      -      seven reviews look back on it, the first counts it
def test_a_sale_is_in_the_seven_reviews_after_it_and_moves_the_position_once(
    shop: Examples,
) -> None:
    shop.sell(parse_clock("10:00"), milk(3))
    assert select_fields(shop, "review_at", "moved_units", "sold_units", "days", "version") == [
        (FIRST + timedelta(days=n), 0 if n else -3, 3, 7, 1) for n in range(7)
    ]


#   23:59:59 | 00:00:00
#      * 1   |    * 2      a review counts what was published before it
def test_midnight_belongs_to_the_next_review(shop: Examples) -> None:
    shop.sell(parse_clock("23:59:59"), milk(1))
    shop.sell(parse_clock("0:00", days=1), milk(2))
    assert select_fields(shop, "moved_units", "sold_units")[:2] == [(-1, 1), (-2, 3)]


def test_an_event_counts_on_the_day_when_it_was_published(shop: Examples) -> None:
    shop.sell(parse_clock("23:30"), milk(1), published=parse_clock("0:30", days=1))
    assert compute_first(shop)["review_at"] == FIRST + timedelta(days=1)


def test_what_is_late_for_its_topic_is_in_no_review(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), milk(1), published=parse_clock("12:01"))
    assert compute_proposals(shop) == []


def test_what_is_weighed_is_ordered_like_pieces_in_thousandths(
    beside: SparkSession | None,
) -> None:
    """A shelf that sells as many kilograms as another sells pieces, of the same terms."""
    pieces, weighed = Examples(beside), Examples(beside)
    terms = {"unit_cost_cents": 120, "pack_size_units": 10, "lead_time_days": 2}
    weighed.introduce_apples(**{**terms, "pack_size_units": 10_000})
    for day, units in enumerate((3, 7, 5)):
        happened = parse_clock("10:00", days=day)
        pieces.sell(happened, milk(units))
        weighed.sell(happened, (APPLES, units * 1_000, 299, "kilogram"))
    ours, theirs = (compute_proposals(shop, Policy()) for shop in (pieces, weighed))
    assert ours
    for piece, other in zip(ours, theirs, strict=True):
        assert (piece["measure"], other["measure"]) == (None, "kilogram")
        assert piece["sold_units"] * 1_000 == other["sold_units"]
        for name in ("reorder_point_units", "order_up_to_units"):
            assert 0 <= piece[name] * 1_000 - other[name] < 2_000


@pytest.mark.parametrize(
    ("status", "order", "ordered", "dispatched", "received", "moved"),
    [
        ("dispatched", None, None, 24, 0, 24),
        ("dispatched", "PO-1", None, 24, 0, 0),
        ("dispatched", "PO-1", 36, 24, 0, -12),
        ("dispatched", "PO-1", 24, 0, 0, -24),
        ("received", None, None, 24, 22, -2),
        ("received", "PO-1", None, 24, 22, -2),
        ("received", "PO-1", 36, 24, 22, -2),
        ("received", None, None, 0, 6, 6),
    ],
)
def test_a_delivery_moves_the_position_by_what_nobody_counted_on(
    shop: Examples,
    status: str,
    order: str | None,
    ordered: int | None,
    dispatched: int,
    received: int,
    moved: int,
) -> None:
    line: Row = {"sku": MILK, "dispatched_units": dispatched, "received_units": received}
    line["ordered_units"] = ordered
    fields: Row = {"status": status, "purchase_order_id": order, "lines": [line]}
    shop.put(SHIPMENTS, parse_clock("10:00"), store_id=LEEDS, **fields)
    assert select_fields(shop, "moved_units", "sold_units")[0] == (moved, 0)


def test_refunds_and_adjustments_move_the_position_and_are_no_demand(shop: Examples) -> None:
    shop.refund(parse_clock("10:00"), milk(2))
    adjust(shop, parse_clock("11:00"), -5, "damage")
    assert select_fields(shop, "moved_units", "sold_units", "version")[0] == (-3, 0, 2)


def test_a_shelf_is_as_old_as_its_opening(shop: Examples) -> None:
    adjust(shop, parse_clock("8:00"), 40, "opening")
    shop.sell(parse_clock("10:00", days=1), milk(4))
    assert select_fields(shop, "days", "moved_units")[:3] == [(1, 40), (2, -4), (3, 0)]
    assert [days for (days,) in select_fields(shop, "days")] == [1, 2, 3, 4, 5, 6, 7, 7]


def test_an_event_with_two_lines_of_a_product_is_one(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), milk(1), milk(2), (WINE, 1, 1_000))
    proposals = {row["sku"]: row for row in compute_proposals(shop)}
    assert (proposals[MILK]["sold_units"], proposals[MILK]["version"]) == (3, 1)


def change(shop: Examples, effective_at: datetime, published: datetime, **terms: Any) -> None:
    shop.put(PRODUCTS, published, effective_at=effective_at, sku=MILK, **terms)


def test_terms_are_those_of_the_newest_event(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), milk(1))
    terms = {"pack_size_units": 20, "lead_time_days": 5}
    change(shop, parse_clock("12:00", days=1), parse_clock("9:00"), **terms)
    shop.sell(parse_clock("10:00", days=1), milk(1))
    shop.sell(parse_clock("14:00", days=2), milk(1))
    assert select_fields(shop, *terms)[:3] == [(10, 2), (10, 2), (20, 5)]


@pytest.mark.parametrize(("published", "pack"), [("9:50", 20), ("9:50:01", 10)])
def test_terms_hold_ten_minutes_after_they_were_published_at_the_earliest(
    shop: Examples, published: str, pack: int
) -> None:
    change(shop, parse_clock("8:00"), parse_clock(published), pack_size_units=20)
    shop.sell(parse_clock("10:00"), milk(1))
    assert compute_first(shop)["pack_size_units"] == pack


def test_a_product_that_nobody_has_announced_is_not_proposed(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), ("SKU-NEW", 1, 100))
    assert compute_proposals(shop) == []


def test_levels_are_the_policys(shop: Examples) -> None:
    """Ten a day, two days to deliver, one to the next review; 30 cents an order, 0.12 to hold one:
    √(2 · 10 · 30 / 0.12) = 70.7."""
    for day in range(7):
        shop.sell(parse_clock("10:00", days=day), milk(10))
    week = {row["review_at"]: row for row in compute_proposals(shop)}[DAY + timedelta(days=7)]
    assert (week["reorder_point_units"], week["order_up_to_units"]) == (30, 30 + 71)


def test_chance_and_deliveries_that_are_late_raise_the_point(shop: Examples) -> None:
    """Seven in a week, so 1 a day, and 3.125 days:
    3.125 + √(3.125 · 4 · (1 + 3.125)) · 3 = 24.7."""
    shop.sell(parse_clock("10:00"), milk(7))
    policy = replace(STEADY, safety=3.0, late_hours=3)
    assert compute_first(shop, policy)["reorder_point_units"] == 25


def test_points_follow_the_day(shop: Examples) -> None:
    """All is sold from 9 to 12, three hours to deliver; and on the weekday after the week."""
    change(shop, parse_clock("9:00"), parse_clock("8:00"), lead_time_days=0, lead_time_hours=3)
    for day in range(7):
        shop.sell(parse_clock("10:00", days=day), milk(70 if day else 140))
    policy = replace(STEADY, review_days=0, trust_units=0.001)
    week = {row["review_at"]: row for row in compute_proposals(shop, policy)}[
        DAY + timedelta(days=7)
    ]
    points = [point["units"] // 10 for point in week["reorder_points"]]
    assert points == [0, 0, 0, 14, 0, 0, 0, 0, 0]


def test_a_lead_time_has_hours_and_a_shelf_that_is_always_looked_at_waits_for_nothing_else(
    shop: Examples,
) -> None:
    """23 a day, a day and six hours to deliver: 28.75, and a day's 23 more where reviews look."""
    change(shop, parse_clock("9:00"), parse_clock("8:00"), lead_time_days=1, lead_time_hours=6)
    for day in range(7):
        shop.sell(parse_clock("10:00", days=day), milk(23))
    for review_days, point in ((0, 29), (1, 52)):
        rows = compute_proposals(shop, replace(STEADY, review_days=review_days))
        week = {row["review_at"]: row for row in rows}[DAY + timedelta(days=7)]
        assert (week["lead_time_days"], week["lead_time_hours"]) == (1, 6)
        assert (week["review_days"], week["reorder_point_units"]) == (review_days, point)


def test_a_position_changes_in_the_minute_in_which_it_is_published(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), milk(3))
    shop.refund(parse_clock("10:00:59"), milk(1))
    shop.sell(parse_clock("10:00:59"), milk(5), published=parse_clock("10:01"))
    changes = compute_proposals(shop, STEADY, POSITION_CHANGES)
    assert [(row["changed_at"], row["moved_units"], row["version"]) for row in changes] == [
        (parse_clock("10:01"), -2, 2),
        (parse_clock("10:02"), -5, 1),
    ]
    assert {(row["pack_size_units"], row["lead_time_days"]) for row in changes} == {(10, 2)}
    assert {row["order_up_to_units"] for row in changes} == {None}


@pytest.mark.parametrize(
    ("review_days", "levels"), [(0, [(44, 48), (None, None)]), (1, [(None, None)] * 2)]
)
def test_a_shelf_that_opens_is_filled_up_to_its_opening_until_a_review(
    shop: Examples, review_days: int, levels: list[tuple[int | None, int | None]]
) -> None:
    """48 · 2.75 / 3 = 44. What is counted in the same minute is no opening."""
    adjust(shop, parse_clock("8:00"), 48, "opening")
    adjust(shop, parse_clock("8:00:30"), -1, "count")
    shop.sell(parse_clock("8:01"), milk(1))
    policy = replace(STEADY, review_days=review_days)
    changes = compute_proposals(shop, policy, POSITION_CHANGES)
    assert [row["moved_units"] for row in changes] == [47, -1]
    assert [(row["reorder_point_units"], row["order_up_to_units"]) for row in changes] == levels


#   4th         | 5th
#    [  half price ]          from 10:00 to 20:00, at which four times as much is wanted
#   *8  *8    *8 | *8         of which two are what the usual price would have sold
#   9:59 10:00 19:59 20:00
@pytest.mark.parametrize(
    ("clock", "usual"), [("9:59:59", 8), ("10:00", 2), ("19:59:59", 2), ("20:00", 8)]
)
def test_what_a_promotion_sells_counts_as_what_the_usual_price_would_have_sold(
    shop: Examples, clock: str, usual: int
) -> None:
    """A week's mean over three days."""
    shop.plan_promotion(MILK, parse_clock("10:00"), parse_clock("20:00"), PRICES[MILK] // 2)
    for _ in range(7):
        shop.sell(parse_clock(clock), milk(8))
    assert select_fields(shop, "sold_units", "reorder_point_units")[0] == (56, 3 * usual)


def test_each_line_counts_as_whole_thousandths(shop: Examples) -> None:
    """At 91 of 100, 1.54 times as much is wanted: a unit is 0.649, and not 0.64935: the lot is
    √(2 · 0.649 · 6e8 / 0.12) = 80,560.5."""
    shop.plan_promotion(MILK, parse_clock("10:00"), parse_clock("20:00"), 91)
    for _ in range(7):
        shop.sell(parse_clock("12:00"), milk(1))
    row = compute_first(shop, replace(STEADY, order_cents=600_000_000))
    assert row["order_up_to_units"] - row["reorder_point_units"] == 80_561


@pytest.mark.parametrize(("published", "usual"), [("9:50", 2), ("9:50:01", 8), ("12:00", 8)])
def test_a_plan_without_notice_holds_ten_minutes_after_it_was_published(
    shop: Examples, published: str, usual: int
) -> None:
    begins, over = parse_clock("9:00"), parse_clock("20:00")
    shop.plan_promotion(MILK, begins, over, 50, begins, published=parse_clock(published))
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
def test_a_review_expects_what_is_planned(
    shop: Examples, starts: int, ends: int, worth: int
) -> None:
    begins, over = (FIRST + timedelta(days=days) for days in (starts, ends))
    shop.sell(parse_clock("0:00") - timedelta(days=1, hours=12), milk(7))
    effective_at = min(begins, parse_clock("12:00")) - timedelta(hours=1)
    shop.plan_promotion(MILK, begins, over, 50, effective_at=effective_at)
    adjust(shop, parse_clock("13:00"), 5, "count")
    proposal = {row["review_at"]: row for row in compute_proposals(shop)}[FIRST]
    assert (proposal["sold_units"], proposal["reorder_point_units"]) == (7, worth)


def plan(shop: Examples, days: int, effective_at: str) -> None:
    """Half the price for so many days from the first review on."""
    over = FIRST + timedelta(days=days)
    shop.plan_promotion(MILK, FIRST, over, 50, effective_at=parse_clock(effective_at))


def test_a_review_knows_the_plan_that_the_newest_event_knew(shop: Examples) -> None:
    """Nothing happened since it was made: it is as unknown live as it is replayed."""
    shop.sell(parse_clock("10:00"), milk(7))
    plan(shop, 3, effective_at="12:00")
    assert compute_first(shop)["reorder_point_units"] == 3
    adjust(shop, parse_clock("12:10"), 5, "count")
    assert compute_first(shop)["reorder_point_units"] == 12


def test_a_newer_plan_takes_over(shop: Examples) -> None:
    plan(shop, 3, effective_at="8:00")
    plan(shop, 1, effective_at="9:00")
    shop.sell(parse_clock("10:00"), milk(7))
    assert compute_first(shop)["reorder_point_units"] == 6


def test_the_plan_of_a_product_that_sold_nothing_says_nothing(shop: Examples) -> None:
    """Nor does it for another product."""
    shop.plan_promotion(MILK, FIRST, FIRST + timedelta(days=3), 50)
    adjust(shop, parse_clock("12:00"), 5, "count")
    shop.sell(parse_clock("12:00"), (WINE, 7, 1_000))
    proposals = {row["sku"]: row for row in compute_proposals(shop) if row["review_at"] == FIRST}
    assert [proposals[sku]["reorder_point_units"] for sku in (MILK, WINE)] == [0, 3]
