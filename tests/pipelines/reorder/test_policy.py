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


def compute_levels(units_a_day: int, policy: Policy = STEADY, plan: Plan = NO_PLAN) -> Levels:
    return derive_levels([units_a_day * 1_000] * 7, 7, 2, 12, 100, plan, policy)


def test_an_order_is_never_below_a_pack() -> None:
    point, up_to = compute_levels(0)
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
    assert compute_levels(10, plan=plan).reorder_point_units == point


def test_a_promotion_to_come_is_less_certain() -> None:
    """Its days weigh in the deviation, too: √(3.3 · (6 + 6² / 7)) · 2.5 = 15.2."""
    careful = replace(STEADY, safety=2.5)
    point, _ = compute_levels(1, careful, Plan(2_000, 0.0, 3.0))
    assert point == 6 + 16


@pytest.mark.parametrize(
    ("usual", "price", "lift"),
    [(100, 100, 1_000), (100, 60, 3_400), (100, 0, 7_000), (3, 2, 3_000)],
)
def test_the_lower_the_price_the_more_is_wanted(usual: int, price: int, lift: int) -> None:
    assert lift_permille(usual, price, Policy()) == lift


def test_a_lift_is_a_whole_number_and_so_is_what_it_takes_away() -> None:
    assert lift_permille(7, 6, Policy()) == 1_857
    assert estimate_usual_milli(10, 1_857) == 5_385
