from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from pipelines.common.flow import build_rows
from pipelines.inventory.pipeline import PIPELINE
from tests.pipelines.log import (
    OPENING,
    Published,
    adjustment,
    create_log,
    delivery,
    dispatch,
    receipt,
    refund,
    shipment,
)
from tests.rows import collect_rows

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)

Stock = Callable[..., dict[str, SimpleNamespace]]


@pytest.fixture
def stock(spark: SparkSession) -> Stock:
    """The stock of store S001 by sku, after a log."""

    def find_shelves(*log: Published) -> dict[str, SimpleNamespace]:
        shelves = collect_rows(build_rows(PIPELINE, create_log(spark, *log)))
        return {row["sku"]: SimpleNamespace(**row) for row in shelves}

    return find_shelves


def test_a_sale_takes_units_off_the_shelf(stock: Stock) -> None:
    shelf = stock(adjustment(5), receipt(("A", 2)))["A"]
    assert (shelf.units_on_hand, shelf.units_adjusted, shelf.units_sold) == (3, 5, 2)


def test_more_sold_than_accounted_for_leaves_a_negative_shelf(stock: Stock) -> None:
    assert stock(receipt(("A", 2)))["A"].units_on_hand == -2


def test_a_refund_puts_the_units_back(stock: Stock) -> None:
    shelf = stock(adjustment(5), receipt(("A", 3)), refund(("A", 2)))["A"]
    assert (shelf.units_on_hand, shelf.units_sold, shelf.units_refunded) == (4, 3, 2)


def test_a_refund_counts_with_its_receipt_and_without(stock: Stock) -> None:
    sale = receipt(("A", 2), event_id="R-of-A")
    shelf = stock(sale, refund(receipt_event_id="R-of-A"), refund(receipt_event_id=None))["A"]
    assert (shelf.units_on_hand, shelf.units_refunded) == (0, 2)


def test_a_refund_read_before_its_receipt_counts_all_the_same(stock: Stock) -> None:
    shelf = stock(refund(receipt_event_id="R-of-A"), receipt(event_id="R-of-A"))["A"]
    assert (shelf.units_on_hand, shelf.version) == (0, 2)


def test_goods_that_came_back_broken_are_written_off(stock: Stock) -> None:
    shelf = stock(adjustment(5), refund(), adjustment(-1, reason="damage"))["A"]
    assert (shelf.units_on_hand, shelf.units_refunded, shelf.units_adjusted) == (5, 1, 4)


def test_what_is_dispatched_is_in_transit_and_not_on_hand(stock: Stock) -> None:
    shelf = stock(dispatch(("A", 12)))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit, shelf.units_received) == (0, 12, 0)


def test_a_delivery_puts_on_the_shelf_what_was_in_transit(stock: Stock) -> None:
    shelf = stock(dispatch(("A", 12)), delivery(("A", 12, 12)))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit, shelf.units_received) == (12, 0, 12)


def test_a_short_delivery_leaves_nothing_in_transit(stock: Stock) -> None:
    shelf = stock(dispatch(("A", 12)), delivery(("A", 12, 7)))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit, shelf.units_received) == (7, 0, 7)


def test_a_delivery_closes_its_own_shipment_and_no_other(stock: Stock) -> None:
    shelf = stock(dispatch(("A", 12)), dispatch(("A", 24)), delivery(("A", 12, 11)))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit) == (11, 24)


def test_a_delivery_whose_dispatch_is_missing_leaves_transit_negative(stock: Stock) -> None:
    assert stock(delivery(("A", 12, 12)))["A"].units_in_transit == -12


def test_a_delivery_received_before_its_dispatch_is_read_closes_it_too(stock: Stock) -> None:
    sent = dispatch(("A", 12), after=119 * MINUTE)
    shelf = stock(delivery(("A", 12, 12), at=60 * MINUTE), sent)["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit) == (12, 0)


def test_a_dispatch_published_beyond_the_horizon_is_closed_without_having_counted(
    stock: Stock,
) -> None:
    sent = dispatch(("A", 12), after=121 * MINUTE)
    shelf = stock(sent, delivery(("A", 12, 12), at=60 * MINUTE))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit) == (12, -12)


def test_a_dispatch_that_claims_received_units_receives_nothing(stock: Stock) -> None:
    claim = {"sku": "A", "dispatched_units": 12, "received_units": 12}
    shelf = stock(dispatch(lines=[claim]))["A"]
    assert (shelf.units_on_hand, shelf.units_in_transit) == (0, 12)


def test_a_sku_on_two_lines_of_a_delivery_is_one_event(stock: Stock) -> None:
    shelf = stock(delivery(("A", 6, 6), ("B", 1, 1), ("A", 6, 4)))["A"]
    assert (shelf.units_received, shelf.units_in_transit, shelf.version) == (10, -12, 1)


def test_a_shipment_of_a_status_nobody_knows_moves_nothing(stock: Stock) -> None:
    assert stock(shipment("lost", ("A", 12, 12))) == {}


def test_on_hand_is_received_adjusted_and_refunded_less_sold(stock: Stock) -> None:
    shelf = stock(
        adjustment(5),
        receipt(("A", 3)),
        refund(("A", 1)),
        dispatch(("A", 9)),
        delivery(("A", 9, 8)),
    )["A"]
    assert shelf.units_on_hand == 8 + 5 + 1 - 3
    assert shelf.version == 5


def test_a_receipt_moves_every_sku_it_lists(stock: Stock) -> None:
    shelves = stock(receipt(("A", 1), ("B", 4)))
    assert {sku: shelf.units_sold for sku, shelf in shelves.items()} == {"A": 1, "B": 4}


def test_a_sku_on_two_lines_adds_up_and_is_still_one_event(stock: Stock) -> None:
    shelf = stock(receipt(("A", 1), ("B", 1), ("A", 2)))["A"]
    assert (shelf.units_sold, shelf.version) == (3, 1)


def test_the_version_counts_the_events_applied(stock: Stock) -> None:
    assert stock(adjustment(5), receipt(), receipt())["A"].version == 3


def test_the_same_event_twice_counts_once(stock: Stock) -> None:
    sale = receipt(("A", 2))
    shelf = stock(sale, sale.later(MINUTE))["A"]
    assert (shelf.units_sold, shelf.version) == (2, 1)


def test_what_is_published_beyond_the_horizon_is_not_applied(stock: Stock) -> None:
    shelf = stock(adjustment(5), receipt(after=121 * MINUTE))["A"]
    assert (shelf.units_on_hand, shelf.version) == (5, 1)


def test_what_is_late_within_the_horizon_is_applied(stock: Stock) -> None:
    assert stock(adjustment(5), receipt(after=120 * MINUTE))["A"].units_on_hand == 4


def test_a_shelf_knows_when_its_first_and_last_events_happened(stock: Stock) -> None:
    shelf = stock(receipt(at=7 * MINUTE), receipt(at=3 * MINUTE), receipt(at=5 * MINUTE))["A"]
    happened = (shelf.first_event_time, shelf.last_event_time)
    assert happened == (OPENING + 3 * MINUTE, OPENING + 7 * MINUTE)
