"""What a review orders, by proposals and open orders."""

import pytest

from services.ordering.decision import Limits, Proposal, Shelf, decide, derive_order_id

DAY_MS = 86_400_000
REVIEW_MS = 20 * DAY_MS
SHELF = Shelf("S003", "SKU-00417")
LIMITS = Limits()


def create_proposal(moved: int = 0, shelf: Shelf = SHELF, review_ms: int = REVIEW_MS) -> Proposal:
    reorder_point, up_to = 38, 62
    return Proposal(
        shelf, review_ms, moved, reorder_point, up_to, pack_size_units=12, lead_time_days=2
    )


def decide_units(
    *proposals: Proposal, ordered: tuple[tuple[Shelf, int, int], ...] = ()
) -> list[int]:
    return [order.units for order in decide(REVIEW_MS, proposals, ordered, LIMITS)]


def test_a_shelf_at_its_reorder_point_is_filled_up_in_whole_packs() -> None:
    assert decide_units(create_proposal(moved=38)) == [24]
    assert decide_units(create_proposal(moved=37)) == [36]
    assert decide_units(create_proposal(moved=39)) == [], "above it nothing is ordered"


def test_the_position_is_all_that_moved_and_what_is_on_order_counts_from_the_next_review() -> None:
    before = create_proposal(moved=50, review_ms=REVIEW_MS - DAY_MS)
    after = create_proposal(moved=100, review_ms=REVIEW_MS + DAY_MS)
    assert decide_units(before, create_proposal(moved=-14), after) == [36]

    for review_ms, units in ((REVIEW_MS, [48]), (REVIEW_MS - DAY_MS, [])):
        placed = (SHELF, review_ms, 24)
        assert decide_units(create_proposal(moved=20), ordered=(placed,)) == units


def test_an_order_is_named_by_shelf_and_review_alone() -> None:
    (large,) = decide(REVIEW_MS, [create_proposal(moved=0)], [], LIMITS)
    (small,) = decide(REVIEW_MS, [create_proposal(moved=30)], [], LIMITS)
    assert large.units != small.units
    assert large.order_id == small.order_id == derive_order_id(SHELF, REVIEW_MS)
    assert derive_order_id(SHELF, REVIEW_MS + DAY_MS) != large.order_id
    assert derive_order_id(Shelf("S004", SHELF.sku), REVIEW_MS) != large.order_id


def test_a_store_orders_so_much_and_the_most_urgent_first() -> None:
    shelves = [Shelf("S003", f"SKU-{number}") for number in range(5)]
    wanted = [create_proposal(30 - number, shelf) for number, shelf in enumerate(shelves)]
    other = create_proposal(moved=38, shelf=Shelf("S004", "SKU-0"))
    limits = Limits(orders_per_store_max=2, units_per_order_max=30)
    orders = decide(REVIEW_MS, [*wanted, other], [], limits)
    assert [order.shelf for order in orders] == [shelves[4], shelves[3], other.shelf]
    assert all(order.units == 24 for order in orders)


@pytest.mark.parametrize("more", [-1, 0, 1, 10_000_000])
def test_what_is_sold_by_a_measure_has_a_bound_of_its_own(more: int) -> None:
    most = LIMITS.thousandths_per_order_max
    wanted = Proposal(SHELF, REVIEW_MS, 0, 0, most + more, 1, 2, measure="kilogram")
    by_piece = Proposal(SHELF, REVIEW_MS, 0, 0, most + more, 1, 2)
    assert decide_units(wanted) == [min(most + more, most)]
    assert decide_units(by_piece) == [LIMITS.units_per_order_max]
