"""The policy on numbers, by hand."""

from dataclasses import replace

import pytest

from pipelines.reorder.policy import (
    NO_PLAN,
    Levels,
    Plan,
    Policy,
    derive_first_levels,
    derive_levels,
    estimate_usual_milli,
    lift_permille,
)

STEADY = replace(Policy(), review_days=1, safety=0.0, swing=0.0, late_days=0.0)
REACTING = replace(STEADY, review_days=0)
CAREFUL = replace(STEADY, safety=2.5)
WEEK = [10] * 7


def compute_levels(
    *sold: int, policy: Policy = STEADY, plan: Plan = NO_PLAN, units_each: int = 1
) -> Levels:
    days = len(sold)
    milli = [units * 1_000 for units in sold]
    milli += [0] * (7 - days)
    return derive_levels(milli, days, 2, 12, 100, plan, policy, units_each=units_each)


@pytest.mark.parametrize("days", [7, 2], ids=["a week", "a young shelf's own days"])
def test_the_point_is_the_demand_until_the_next_orders_delivery(days: int) -> None:
    assert compute_levels(*[10] * days).reorder_point_units == 30


def test_a_shelf_that_varies_is_kept_fuller() -> None:
    steady, _ = compute_levels(10, 10, 10, policy=Policy())
    varying, _ = compute_levels(0, 30, 0, policy=Policy())
    assert varying > steady > 30


def test_the_mean_of_few_days_is_trusted_less() -> None:
    one_day, two_days, week = (compute_levels(*[10] * days, policy=CAREFUL) for days in (1, 2, 7))
    assert (
        one_day.reorder_point_units > two_days.reorder_point_units > week.reorder_point_units > 30
    )


def test_an_order_is_as_large_as_is_cheapest() -> None:
    """Ten a day, 0.1 cents a day to hold one, 30 cents to order: √(2 · 10 · 30 / 0.1) = 77.5."""
    point, up_to = compute_levels(*WEEK)
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
    assert compute_levels(*[0] * 7) == (0, 12)


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


#    review      goods        it takes two days until goods are there, whenever they are ordered,
#  -----|----.----|----.-----  and the levels hold for one more
#       |         |====       one day, as orders may come a day after the review
#       |====     |           one day
#    ===|=========|========== no more than the two
@pytest.mark.parametrize(
    ("begins", "ends", "point"),
    [(3, 5, 20), (2, 5, 30), (2.5, 5, 25), (0, 1, 30), (-1, 5, 40), (-2, 0, 20)],
)
def test_levels_that_hold_for_a_day_see_the_promotions_that_begin_in_it(
    begins: float, ends: float, point: int
) -> None:
    plan = Plan(2_000, begins, ends)
    assert compute_levels(*WEEK, policy=REACTING, plan=plan).reorder_point_units == point


@pytest.mark.parametrize(("opened", "levels"), [(48, (38, 48)), (1, (0, 1)), (5, (4, 5))])
def test_a_shelf_is_filled_up_to_its_opening(opened: int, levels: tuple[int, int]) -> None:
    assert derive_first_levels(opened, Policy()) == levels


def test_a_promotion_to_come_is_less_certain() -> None:
    """Its days weigh in the deviation, too: √(3.3 · (6 + 6² / 7)) · 2.5 = 15.2."""
    levels = compute_levels(*[1] * 7, policy=CAREFUL, plan=Plan(2_000, 0.0, 3.0))
    assert levels.reorder_point_units == 6 + 16


@pytest.mark.parametrize(
    ("usual", "price", "lift"),
    [(100, 100, 1_000), (100, 60, 3_400), (100, 0, 7_000), (3, 2, 3_000)],
)
def test_the_lower_the_price_the_more_is_wanted(usual: int, price: int, lift: int) -> None:
    assert lift_permille(usual, price, Policy()) == lift


def test_a_lift_is_a_whole_number_and_so_is_what_it_takes_away() -> None:
    assert lift_permille(7, 6, Policy()) == 1_857
    assert estimate_usual_milli(10, 1_857) == 5_385
