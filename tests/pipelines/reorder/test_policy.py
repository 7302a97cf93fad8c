"""The policy on numbers, by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipelines.reorder.policy import (
    NO_PLAN,
    Levels,
    Plan,
    Policy,
    Sold,
    derive_first_levels,
    derive_levels,
    estimate_usual_milli,
    forecast_demand,
    lift_permille,
)

ALIKE = (10,) * 7
STEADY = replace(Policy(), review_days=1, safety=0.0, weekdays=ALIKE, late_hours=0)
REACTING = replace(STEADY, review_days=0)
CAREFUL = replace(STEADY, safety=3.0)
WEEK = [10] * 7
FRIDAY = 4
EVENLY = (1,) * 8


def compute_levels(
    *sold: int,
    policy: Policy = STEADY,
    plan: Plan = NO_PLAN,
    units_each: int = 1,
    lead_days: float = 2,
    weekday: int = 0,
    parts: Sequence[int] = EVENLY,
) -> Levels:
    """`sold`: by day, the newest first; `parts`: in which proportion, by three hours."""
    days, total = len(sold), sum(sold) * 1_000
    daily = [units * 1_000 for units in sold] + [0] * (7 - days)
    week = Sold(daily, [total * part // sum(parts) for part in parts], days, weekday)
    forecast = forecast_demand(week, policy)
    return derive_levels(forecast, lead_days, 12, 100, plan, policy, units_each=units_each)


@pytest.mark.parametrize("days", [7, 2], ids=["a week", "a young shelf's own days"])
def test_the_point_is_the_demand_until_the_next_orders_delivery(days: int) -> None:
    assert compute_levels(*[10] * days).reorder_point_units == 30


def test_a_day_is_like_the_same_weekday_of_last_week() -> None:
    """A day to deliver: the points at both ends of Friday are the units of it and of Saturday."""
    policy = replace(REACTING, trust_units=0.001)
    last = {"Thursday": 8, "Wed": 8, "Tue": 8, "Mon": 8, "Sunday": 5, "Saturday": 21, "Friday": 12}
    _, _, points = compute_levels(*last.values(), policy=policy, lead_days=1, weekday=FRIDAY)
    assert (points[0], points[8]) == (12, 21)


def test_what_few_units_say_counts_half() -> None:
    """80 a day, 160 on the Friday, none on the Saturday: as much for what is usual."""
    sold = (80, 80, 80, 80, 80, 0, 160)
    _, _, points = compute_levels(*sold, policy=REACTING, lead_days=1, weekday=FRIDAY)
    assert (points[0], points[8]) == (120, 40)


def test_a_weekday_not_yet_seen_is_as_usual() -> None:
    """Ten on a Thursday, which is a mean day."""
    policy = replace(REACTING, weekdays=Policy.weekdays)
    _, _, points = compute_levels(10, policy=policy, lead_days=1, weekday=FRIDAY)
    assert (points[0], points[8]) == (12, 14)


def test_the_point_follows_the_hours_in_which_goods_are_sold() -> None:
    """All of ten is sold from 9 to 12; three hours to deliver. The highest point is the row's."""
    policy = replace(REACTING, trust_units=0.001)
    morning = (0, 0, 0, 1, 0, 0, 0, 0)
    point, _, points = compute_levels(*WEEK, policy=policy, lead_days=0.125, parts=morning)
    assert [units // 10 for units in points] == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert point == max(points)


def test_who_looks_at_reviews_has_one_point() -> None:
    assert compute_levels(*WEEK).points == ()


def test_an_order_is_as_large_as_is_cheapest() -> None:
    """Ten a day, 0.1 cents a day to hold one, 30 cents to order: √(2 · 10 · 30 / 0.1) = 77.5."""
    point, up_to, _ = compute_levels(*WEEK)
    assert up_to - point == 78


def test_levels_of_kilograms_are_those_of_pieces_in_grams() -> None:
    sold = (10, 30, 0, 10, 10, 10, 10)
    pieces = compute_levels(*sold, policy=Policy())
    grams = compute_levels(*sold, policy=Policy(), units_each=1_000)
    assert pieces.reorder_point_units == -(-grams.reorder_point_units // 1_000)
    lot, lot_of_grams = (
        levels.order_up_to_units - levels.reorder_point_units for levels in (pieces, grams)
    )
    assert lot == -(-lot_of_grams // 1_000)


def test_an_order_is_never_below_a_pack() -> None:
    assert compute_levels(*[0] * 7) == (0, 12, ())


#    review           goods     it takes three days until the next orders' goods are there
#  -----|----.----.----|-----
#   === |              |       over
#       |=======       |       a day and a half: 10 · (3 + 1.5)
#     ==|=======       |       a day and a half, what is before the review aside
#       |     =========|===    two days
#    ===|==============|===    all three
#       |              |===    too late for these goods
@pytest.mark.parametrize(
    ("begins", "ends", "point"),
    [(-2, 0, 30), (0, 1.5, 45), (-1, 1.5, 45), (1, 5, 50), (-1, 5, 60), (3, 5, 30)],
)
def test_a_promotions_days_are_worth_what_they_lift(begins: float, ends: float, point: int) -> None:
    """Twice as much is wanted of what sells ten a day."""
    plan = Plan(2_000, begins, ends)
    assert compute_levels(*WEEK, plan=plan).reorder_point_units == point


#    review      goods        it takes two days until goods are there, whenever they are ordered
#  -----|----.----|----.-----
#       |         |====       at the end of the day half of what is awaited
#       |====     |           at its beginning
#    ===|=========|==========
@pytest.mark.parametrize(
    ("begins", "ends", "point", "last"),
    [
        (3, 5, 20, 20),
        (2, 5, 20, 30),
        (2.5, 5, 20, 25),
        (0, 1, 30, 20),
        (-1, 5, 40, 40),
        (-2, 0, 20, 20),
    ],
)
def test_points_of_a_day_see_the_promotions_before_their_goods(
    begins: float, ends: float, point: int, last: int
) -> None:
    levels = compute_levels(*WEEK, policy=REACTING, plan=Plan(2_000, begins, ends))
    assert (levels.points[0], levels.points[-1]) == (point, last)


@pytest.mark.parametrize(
    ("opened", "lead_days", "levels"),
    [(48, 2, (44, 48)), (48, 0.125, (37, 48)), (1, 2, (0, 1)), (5, 2, (4, 5))],
)
def test_a_shelf_is_filled_up_to_its_opening(
    opened: int, lead_days: float, levels: tuple[int, int]
) -> None:
    """It lasts a day beyond the lead time: 48 · 2.75 / 3."""
    assert derive_first_levels(opened, lead_days, Policy())[:2] == levels


def test_a_promotion_to_come_is_less_certain() -> None:
    """Three days are worth six of one unit: 6 + √(6 · 4 · (1 + 6)) · 3 = 44.9."""
    levels = compute_levels(*[1] * 7, policy=CAREFUL, plan=Plan(2_000, 0.0, 3.0))
    assert levels.reorder_point_units == 45


@pytest.mark.parametrize(
    ("usual", "price", "lift"),
    [(100, 100, 1_000), (100, 60, 3_400), (100, 0, 7_000), (3, 2, 3_000)],
)
def test_the_lower_the_price_the_more_is_wanted(usual: int, price: int, lift: int) -> None:
    assert lift_permille(usual, price, Policy()) == lift


def test_a_lift_is_a_whole_number_and_so_is_what_it_takes_away() -> None:
    assert lift_permille(7, 6, Policy()) == 1_857
    assert estimate_usual_milli(10, 1_857) == 5_385
