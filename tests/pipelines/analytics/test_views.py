"""What the analytics views say of hand-drawn timelines."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import PRODUCTS
from pipelines.analytics.pipeline import PIPELINE
from tests.pipelines.log import (
    OPENING,
    Event,
    build_log,
    compute_rows,
    receipt,
    refund,
    select_fields,
)

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
NAMES = [view.entity for view in PIPELINE.writes]

COSTS = [
    Event(PRODUCTS, -HOUR, timedelta(), {"effective_at": since, "sku": sku, **terms})
    for since, sku, terms in (
        (OPENING - HOUR, "A", {"unit_cost_cents": 60, "measure": None}),
        (OPENING + 10 * MINUTE, "A", {"unit_cost_cents": 70, "measure": None}),
        (OPENING - HOUR, "K", {"unit_cost_cents": 333, "measure": "kilogram"}),
    )
]
"""A costs 60 cents, from ten minutes past the opening 70; a kilogram of K costs 333."""


def ask(spark: SparkSession, view: str, *events: Event) -> list[dict[str, Any]]:
    """The rows of a view after some events, in the order of its key."""
    number = NAMES.index(view)
    rows = compute_rows(spark, PIPELINE, build_log(*COSTS, *events), number).values()
    return sorted(rows, key=lambda row: [row[field] for field in PIPELINE.writes[number].key])


def test_a_minute_adds_up_receipts_units_and_revenue(spark: SparkSession) -> None:
    view_rows = ask(
        spark, "store-sales", receipt(("A", 2), ("A", 1)), receipt(("A", 4), happens=MINUTE * 0.99)
    )
    measures = ("window_start", "receipts", "units", "revenue_cents", "version")
    assert select_fields(view_rows, *measures) == [(OPENING, 2, 7, 700, 2)]


def test_the_first_moment_of_the_next_minute_is_in_the_next(spark: SparkSession) -> None:
    view_rows = ask(spark, "store-sales", receipt(), receipt(happens=MINUTE))
    assert select_fields(view_rows, "window_start", "window_end") == [
        (OPENING, OPENING + MINUTE),
        (OPENING + MINUTE, OPENING + 2 * MINUTE),
    ]


def test_margin_is_over_the_cost_at_the_moment_of_the_sale(spark: SparkSession) -> None:
    before, after = (receipt(("A", 1), happens=minute * MINUTE) for minute in (9, 10))
    assert select_fields(ask(spark, "store-sales", before, after), "margin_cents") == [(40,), (30,)]


def test_a_unit_whose_cost_nobody_knows_has_no_margin_and_is_counted(spark: SparkSession) -> None:
    view_rows = ask(spark, "store-sales", receipt(("A", 1), ("B", 2)))
    assert select_fields(view_rows, "margin_cents", "units_without_cost", "units") == [(40, 2, 3)]


def sell(*lines: tuple[str, int, int, str | None], happens: timedelta = timedelta()) -> Event:
    """Lines are (sku, units, unit price, measure)."""
    names = ("sku", "units", "unit_price_cents", "measure")
    return receipt(lines=[dict(zip(names, line, strict=True)) for line in lines], happens=happens)


def test_a_line_with_a_measure_comes_to_whole_cents_half_a_cent_up(spark: SparkSession) -> None:
    """Units, price, revenue and cost; each line has a minute of its own."""
    lines = [(1, 500, 1, 0), (1, 499, 0, 0), (2, 500, 1, 1), (350, 299, 105, 117)]
    lines.append((1_000, 500, 500, 333))
    log = [
        sell(("K", units, price, "kilogram"), happens=minute * MINUTE)
        for minute, (units, price, _, _) in enumerate(lines)
    ]
    fields = ("units", "revenue_cents", "margin_cents", "units_without_cost")
    assert select_fields(ask(spark, "store-sales", *log), *fields) == [
        (units, revenue, revenue - cost, 0) for units, _, revenue, cost in lines
    ]


def test_each_line_of_one_product_is_rounded_by_itself(spark: SparkSession) -> None:
    rows = ask(spark, "best-seller", sell(*[("K", 1, 500, "kilogram")] * 3))
    assert {row["revenue_cents"] for row in rows} == {3}


def test_a_cost_for_another_measure_than_the_lines_is_none(spark: SparkSession) -> None:
    lines = (("K", 1, 500, None), ("K", 2, 500, "litre"), ("A", 4, 500, "metre"))
    rows = ask(spark, "store-sales", sell(*lines))
    assert select_fields(rows, "revenue_cents", "margin_cents", "units_without_cost") == [
        (500 + 1 + 2, 0, 7)
    ]


@pytest.mark.parametrize(("after", "late"), [(2 * MINUTE, 0), (2 * MINUTE + MINUTE / 60_000, 1)])
def test_late_begins_when_the_grace_after_the_end_is_over(
    spark: SparkSession, after: timedelta, late: int
) -> None:
    view_rows = ask(spark, "store-sales", receipt(("A", 1)), receipt(("A", 2), after=after))
    assert select_fields(view_rows, "units", "units_on_time", "late_events") == [
        (3, 1 if late else 3, late)
    ]
    assert select_fields(view_rows, "last_late_event_time") == [(OPENING if late else None,)]


def test_what_comes_later_than_the_horizon_is_in_no_view(spark: SparkSession) -> None:
    assert ask(spark, "store-sales", receipt(after=121 * MINUTE)) == []


def test_refunds_are_no_sales(spark: SparkSession) -> None:
    assert ask(spark, "store-sales", refund()) == []
    assert ask(spark, "best-seller", refund()) == []


def test_a_sale_lies_in_six_hours_that_begin_every_ten_minutes(spark: SparkSession) -> None:
    view_rows = ask(spark, "best-seller", receipt(("A", 3), happens=5 * MINUTE))
    begun: list[datetime] = [OPENING - n * 10 * MINUTE for n in range(5, -1, -1)]
    assert select_fields(view_rows, "window_start", "units", "window_end") == [
        (start, 3, start + HOUR) for start in begun
    ]


def test_a_product_on_two_lines_of_a_receipt_counts_its_event_once(spark: SparkSession) -> None:
    view_rows = ask(spark, "best-seller", receipt(("A", 3), ("B", 1), ("A", 2)))
    assert set(select_fields(view_rows, "sku", "units", "version")) == {("A", 5, 1), ("B", 1, 1)}


def test_a_day_knows_what_was_sold_and_what_came_back(spark: SparkSession) -> None:
    view_rows = ask(
        spark,
        "daily-demand",
        receipt(("A", 3)),
        refund(("A", 1), happens=HOUR),
        receipt(happens=16 * HOUR),
    )
    assert select_fields(view_rows, "day_start", "units_sold", "units_refunded", "version") == [
        (datetime.combine(OPENING.date(), datetime.min.time(), OPENING.tzinfo), 3, 1, 2),
        (OPENING + 16 * HOUR, 1, 0, 1),
    ]
