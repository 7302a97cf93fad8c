"""The policy on numbers, by hand."""

from dataclasses import replace

from pipelines.reorder.policy import Levels, Policy, levels

STEADY = replace(Policy(), safety=0.0, swing=0.0, late_days=0.0)


def of(*sold: int, policy: Policy = STEADY) -> Levels:
    days = len(sold)
    return levels([*sold, *[0] * (7 - days)], days, 2, 12, 100, policy)


def test_the_point_is_the_demand_until_the_next_orders_delivery() -> None:
    assert of(10, 10, 10, 10, 10, 10, 10).reorder_point_units == 30


def test_a_young_shelf_is_judged_by_its_own_days() -> None:
    assert of(10, 10).reorder_point_units == 30


def test_a_shelf_that_varies_is_kept_fuller() -> None:
    steady, varying = of(10, 10, 10, policy=Policy()), of(0, 30, 0, policy=Policy())
    assert varying.reorder_point_units > steady.reorder_point_units > 30


def test_an_order_is_as_large_as_is_cheapest() -> None:
    """Ten a day, 0.1 cents a day to hold one, 30 cents to order: √(2 · 10 · 30 / 0.1) = 77.5."""
    point, up_to = of(10, 10, 10, 10, 10, 10, 10)
    assert up_to - point == 78


def test_an_order_is_never_below_a_pack() -> None:
    point, up_to = of(0, 0, 0, 0, 0, 0, 0)
    assert (point, up_to) == (0, 12)
