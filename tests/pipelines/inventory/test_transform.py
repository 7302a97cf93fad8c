from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from pipelines.common.fold import rows
from pipelines.inventory.pipeline import PIPELINE
from tests.pipelines.log import OPENING, Published, adjustment, collected, events, receipt

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)

Stock = Callable[..., dict[str, SimpleNamespace]]


@pytest.fixture
def stock(spark: SparkSession) -> Stock:
    """The stock of store S001 by sku, after a log."""

    def after(*log: Published) -> dict[str, SimpleNamespace]:
        found = collected(rows(PIPELINE, events(spark, PIPELINE.reads, *log)))
        return {row["sku"]: SimpleNamespace(**row) for row in found}

    return after


def test_a_sale_takes_units_off_the_shelf(stock: Stock) -> None:
    shelf = stock(adjustment(5), receipt(("A", 2)))["A"]
    assert (shelf.units_on_hand, shelf.units_adjusted, shelf.units_sold) == (3, 5, 2)


def test_more_sold_than_accounted_for_leaves_a_negative_shelf(stock: Stock) -> None:
    assert stock(receipt(("A", 2)))["A"].units_on_hand == -2


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
