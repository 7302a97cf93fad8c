"""The bound is what trying every way to order finds, and no way to order beats it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from random import Random

import pytest

from ops.verify.reorder_bound import Terms, compute_least_cents, group_by_arrival
from ops.verify.reorder_life import Life
from ops.verify.reorder_score import compute_bound_cents
from ops.verify.reorder_ways import propose_by_policy, propose_by_table
from pipelines.reorder.policy import Levels, Policy
from tests.ops.verify.test_reorder_score import COSTS, DAYS, WORLD
from tests.seeds import create_random

HOURS = 6
PACKS_MAX = 8

Brought = Mapping[int, Iterable[int]]
"""Packs of each order, by the hour in which they arrive."""


@pytest.mark.parametrize("world", range(20))
def test_it_is_the_least_of_all_ways_to_order(world: int) -> None:
    draw = create_random(f"bound {world}")
    opening, terms = draw.randrange(5), draw_terms(draw)
    wanted = [draw.randrange(4) for _ in range(HOURS)]
    moved = [draw.choice((0, 0, 0, 1, -1)) for _ in range(HOURS)]
    hours = [draw.randrange(HOURS) for _ in range(3)]
    bound = compute_least_cents(
        opening, wanted, moved, group_by_arrival([(at, 1.0) for at in hours]), terms
    )
    tried = (
        compute_spent_cents(opening, wanted, moved, list(zip(hours, packs, strict=True)), terms)
        for packs in product(range(PACKS_MAX), repeat=len(hours))
    )
    assert bound == pytest.approx(min(tried))


def draw_terms(draw: Random) -> Terms:
    return Terms(
        pack_size_units=draw.choice((3, 5, 6)),
        order_cents=draw.choice((0, 1, 4)),
        lost_cents=draw.choice((1, 3)),
        holding_cents=draw.choice((0.1, 0.5)),
    )


def compute_spent_cents(
    opening: int,
    wanted: Sequence[int],
    moved: Sequence[int],
    orders: Sequence[tuple[int, int]],
    terms: Terms,
) -> float:
    """What these orders cost, hour by hour; an order: when it arrives, and its packs."""
    units, cents = opening, 0.0
    for hour in range(HOURS):
        for _, packs in (order for order in orders if order[0] == hour and order[1]):
            units += packs * terms.pack_size_units
            cents += terms.order_cents
        cents += max(0, wanted[hour] - units) * terms.lost_cents
        units = max(0, max(0, units - wanted[hour]) + moved[hour])
        cents += units * terms.holding_cents
    return cents


def test_an_order_that_brings_nothing_is_not_made() -> None:
    terms = Terms(pack_size_units=1, order_cents=1, lost_cents=5, holding_cents=0.1)
    assert compute_least_cents(0, [1], [0], group_by_arrival([(0, 0.0)]), terms) == 5
    assert compute_least_cents(0, [1], [0], group_by_arrival([(0, 0.5)]), terms) == 1


@pytest.mark.parametrize("cautious", [Policy(), Policy(safety=0.0), Policy(swing=1.0)])
def test_no_policy_costs_less(cautious: Policy) -> None:
    life = Life(WORLD, DAYS, propose_by_policy(cautious))
    assert 0 < compute_bound_cents(life, COSTS) <= life.score(COSTS).cost_cents


def test_no_levels_cost_less() -> None:
    for point in (0, 20, 200):
        levels = dict.fromkeys(Life(WORLD, 1).opening, Levels(point, point + 50))
        life = Life(WORLD, DAYS, propose_by_table(levels))
        assert compute_bound_cents(life, COSTS) <= life.score(COSTS).cost_cents
