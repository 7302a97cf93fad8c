"""The policy on numbers, by hand."""

from dataclasses import replace

import pytest

from pipelines.reorder.policy import (
    NO_PLAN,
    Levels,
    Plan,
    Policy,
    derive_levels,
    estimate_usual_milli,
    lift_permille,
)

STEADY = replace(Policy(), safety=0.0, swing=0.0, late_days=0.0)


def compute_levels(
    *sold: int, policy: Policy = STEADY, plan: Plan = NO_PLAN, units_each: int = 1
) -> Levels:
    days = len(sold)
    milli = [units * 1_000 for units in sold]
    return derive_levels(
        [*milli, *[0] * (7 - days)], days, 2, 12, 100, plan, policy, units_each=units_each
    )


def test_the_point_is_the_demand_until_the_next_orders_delivery() -> None:
    assert compute_levels(10, 10, 10, 10, 10, 10, 10).reorder_point_units == 30


def test_a_young_shelf_is_judged_by_its_own_days() -> None:
    assert compute_levels(10, 10).reorder_point_units == 30


def test_a_shelf_that_varies_is_kept_fuller() -> None:
    steady, varying = (
        compute_levels(10, 10, 10, policy=Policy()),
        compute_levels(0, 30, 0, policy=Policy()),
    )
    assert varying.reorder_point_units > steady.reorder_point_units > 30


def test_the_mean_of_few_days_is_trusted_less() -> None:
    careful = replace(STEADY, safety=2.5)
    points = [
        compute_levels(*[10] * days, policy=careful).reorder_point_units for days in (1, 2, 7)
    ]
    assert points[0] > points[1] > points[2] > 30


def test_an_order_is_as_large_as_is_cheapest() -> None:
    """Ten a day, 0.1 cents a day to hold one, 30 cents to order: √(2 · 10 · 30 / 0.1) = 77.5."""
    point, up_to = compute_levels(10, 10, 10, 10, 10, 10, 10)
    assert up_to - point == 78


def test_levels_of_kilograms_are_those_of_pieces_in_grams() -> None:
    sold = (10, 30, 0, 10, 10, 10, 10)
    pieces = compute_levels(*sold, policy=Policy())
    grams = compute_levels(*sold, policy=Policy(), units_each=1_000)
    assert pieces.reorder_point_units == -(-grams.reorder_point_units // 1_000)
    lot, lot_of_grams = (one.order_up_to_units - one.reorder_point_units for one in (pieces, grams))
    assert lot == -(-lot_of_grams // 1_000)


def test_an_order_is_never_below_a_pack() -> None:
    point, up_to = compute_levels(0, 0, 0, 0, 0, 0, 0)
    assert (point, up_to) == (0, 12)


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
    [
        (-2.0, 0.0, 30),
        (0.0, 1.5, 45),
        (-1.0, 1.5, 45),
        (1.0, 5.0, 50),
        (-1.0, 5.0, 60),
        (3.0, 5.0, 30),
    ],
)
def test_a_promotions_days_are_worth_what_they_lift(begins: float, ends: float, point: int) -> None:
    """Twice as much is wanted of what sells ten a day."""
    plan = Plan(2_000, begins, ends)
    assert compute_levels(10, 10, 10, 10, 10, 10, 10, plan=plan).reorder_point_units == point


def test_a_promotion_to_come_is_less_certain() -> None:
    """Its days weigh in the deviation, too: √(3.3 · (6 + 6² / 7)) · 2.5 = 15.2."""
    careful = replace(STEADY, safety=2.5)
    assert (
        compute_levels(*[1] * 7, policy=careful, plan=Plan(2_000, 0.0, 3.0)).reorder_point_units
        == 6 + 16
    )


@pytest.mark.parametrize(
    ("usual", "price", "lift"),
    [(100, 100, 1_000), (100, 60, 3_400), (100, 0, 7_000), (3, 2, 3_000)],
)
def test_the_lower_the_price_the_more_is_wanted(usual: int, price: int, lift: int) -> None:
    assert lift_permille(usual, price, Policy()) == lift


def test_a_lift_is_a_whole_number_and_so_is_what_it_takes_away() -> None:
    assert lift_permille(7, 6, Policy()) == 1_857
    assert estimate_usual_milli(10, 1_857) == 5_385
