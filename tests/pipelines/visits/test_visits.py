"""Visits of hand-drawn timelines: pipeline and oracle say the same, and what one counts oneself."""

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from contracts import VISITS
from ops.verify.inventory import Row
from ops.verify.oracles import VisitsOracle
from pipelines.visits.pipeline import LIMITS, PIPELINE
from tests.pipelines.log import Examples, select_fields
from tests.timeline import APPLES, LEEDS, MILK, YORK, Line, parse_clock

pytestmark = pytest.mark.spark


class Visits(Examples):
    """A timeline whose visits the pipeline and the oracle count alike."""

    def count(self) -> list[Row]:
        [rows] = VisitsOracle(self.records, LIMITS, {}).compute_views().values()
        return self.judge(PIPELINE, rows)


@pytest.fixture
def shop(spark: SparkSession) -> Visits:
    return Visits(spark)


def test_a_visit_counts_so_many_stores_and_no_more(shop: Visits) -> None:
    most = LIMITS.stores_max
    assert f"stores is at most {most}" in {rule.name for rule in VISITS.rules}
    for stores in (most - 1, most, most + 1, 10 * most):
        for number in range(stores):
            moment = parse_clock("10:00") + timedelta(minutes=50) * (number % 2)
            shop.sell(moment, customer=f"C{stores}", store=f"S{number}")
            shop.sell(parse_clock("10:25"), customer=f"C{stores}", store=f"S{number}")
    found = {
        row["customer_id"]: row["stores"] for row in shop.count() if row["status"] == "counted"
    }
    assert found == {
        f"C{most - 1}": most - 1,
        f"C{most}": most,
        f"C{most + 1}": most,
        f"C{10 * most}": most,
    }


#   10:00   10:20  |  10:49  |   11:00 |       11:30
#     *-------*----|----*----|-----*   |         *      pauses below 30 minutes, then one of 30
#     counted      | withdrawn withdrawn       counted
def test_a_pause_of_half_an_hour_ends_a_visit(shop: Visits) -> None:
    for minute in ("10:00", "10:20", "10:49", "11:00", "11:30"):
        shop.sell(parse_clock(minute), customer="C1")
    fields = ("status", "slot_start", "visit_start", "visit_end", "window_end", "receipts")
    ends = (parse_clock("11:00"), parse_clock("11:30"))
    assert select_fields(shop.count(), *fields) == [
        ("counted", parse_clock("10:00"), parse_clock("10:00"), *ends, 4),
        ("withdrawn", parse_clock("10:30"), parse_clock("10:49"), *ends, 2),
        ("withdrawn", parse_clock("11:00"), parse_clock("11:00"), *ends, 1),
        ("counted", *[parse_clock("11:30")] * 3, parse_clock("12:00"), 1),
    ]
    assert {row["version"] for row in shop.count()} == {5}


#   10:01        |       10:59
#     *          |         *       the longest pause of neighbouring slots: two visits
def test_neighbouring_slots_may_be_of_two_visits(shop: Visits) -> None:
    for minute in ("10:01", "10:59"):
        shop.sell(parse_clock(minute), customer="C1")
    assert select_fields(shop.count(), "status", "visit_end") == [
        ("counted", parse_clock("10:01")),
        ("counted", parse_clock("10:59")),
    ]


def test_a_visit_of_two_stores_is_one(shop: Visits) -> None:
    shop.sell(parse_clock("10:00"), customer="C1", store=LEEDS)
    shop.sell(parse_clock("10:10"), customer="C1", store=YORK)
    assert select_fields(shop.count(), "stores", "receipts")[0] == (2, 2)


def test_what_is_weighed_comes_to_whole_cents_line_by_line(shop: Visits) -> None:
    lines: list[Line] = [(APPLES, 1, 500, "kilogram"), (APPLES, 1, 499, "kilogram"), (MILK, 1, 500)]
    shop.sell(parse_clock("10:20"), *lines, (APPLES, 1, 500, "litre"), customer="C1")
    shop.sell(parse_clock("10:35"), (APPLES, 350, 299, "kilogram"), customer="C1")
    assert select_fields(shop.count(), "units", "spent_cents") == [
        (4 + 350, 1 + 0 + 500 + 1 + 105),
        (350, 105),
    ]


def test_customers_do_not_visit_together(shop: Visits) -> None:
    shop.sell(parse_clock("10:00"), customer="C1")
    shop.sell(parse_clock("10:01"), customer="C2")
    assert select_fields(shop.count(), "customer_id", "status") == [
        ("C1", "counted"),
        ("C2", "counted"),
    ]


def test_who_shows_no_card_is_not_seen(shop: Visits) -> None:
    shop.sell(parse_clock("10:00"), customer=None)
    assert shop.count() == []


#   23:50 | 00:05
#     *   |   *       two days, so two visits; the first one's window ends with its day
def test_midnight_ends_a_visit(shop: Visits) -> None:
    shop.sell(parse_clock("23:50"), customer="C1")
    shop.sell(parse_clock("0:05", days=1), customer="C1")
    assert select_fields(shop.count(), "status", "window_end") == [
        ("counted", parse_clock("0:00", days=1)),
        ("counted", parse_clock("0:35", days=1)),
    ]


def test_a_receipt_that_is_read_later_changes_which_one_counts_and_takes_no_row_away(
    shop: Visits,
) -> None:
    shop.sell(parse_clock("10:40"), customer="C/1")
    [before] = shop.count()
    shop.sell(parse_clock("10:20"), customer="C/1", published=parse_clock("10:50"))
    shop.sell(parse_clock("10:35"), customer="C/1", published=parse_clock("10:50"))
    after = {row["slot_start"]: row for row in shop.count()}
    assert before["customer_id"] == "C%2F1"
    later = after[before["slot_start"]]
    assert (before["status"], later["status"]) == ("counted", "withdrawn")
    assert (before["visit_start"], later["visit_start"]) == (
        parse_clock("10:40"),
        parse_clock("10:35"),
    )
    assert later["version"] > before["version"]
