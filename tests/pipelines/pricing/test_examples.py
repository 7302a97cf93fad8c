"""Intervals of hand-drawn timelines: oracle and pipeline say what one counts oneself."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from contracts import ADJUSTMENTS, PRODUCTS, SHIPMENTS
from ops.verify.inventory import Row
from ops.verify.oracles import PricingOracle
from pipelines.pricing.pipeline import PIPELINE
from pipelines.pricing.thresholds import Thresholds
from pipelines.pricing.transform import build_proposals
from tests.pipelines.log import Examples
from tests.timeline import APPLES, DAY, LEEDS, LONDON, MILK, WINE, YORK, parse_clock

CERTAIN = Thresholds(cover_days=10, enough_days=4, deviations=0)
MIDNIGHT = DAY + timedelta(days=1)


def compute_proposals(shop: Examples, limits: Thresholds = CERTAIN) -> list[Row]:
    pipeline = replace(PIPELINE, to_rows=partial(build_proposals, limits=limits))
    return shop.judge(pipeline, PricingOracle(shop.records, limits).compute_view())


def select_fields(
    shop: Examples, *fields: str, period: str = "half-hour", limits: Thresholds = CERTAIN
) -> list[tuple[object, ...]]:
    rows = [row for row in compute_proposals(shop, limits) if row["period"] == period]
    return [tuple(row[field] for field in fields) for row in rows]


def milk(units: int) -> tuple[str, int, int]:
    return MILK, units, 100


def adjust(shop: Examples, happened: datetime, units: int, store: str = LEEDS) -> None:
    shop.put(ADJUSTMENTS, happened, store_id=store, sku=MILK, units=units, reason="opening")


#   10:00        | 10:30       | 11:00
#     +40  *2    |  *3    *1   |
#      9:59:59 is of the half-hour before
def test_a_line_counts_in_its_half_hour_and_its_day_over_all_stores(shop: Examples) -> None:
    adjust(shop, parse_clock("9:59:59"), 10, YORK)
    adjust(shop, parse_clock("10:00"), 40)
    shop.sell(parse_clock("10:29:59"), milk(2))
    shop.sell(parse_clock("10:30"), milk(3), store=LONDON)
    shop.sell(parse_clock("10:45"), milk(1), (WINE, 1, 1_000))
    fields = "ends_at", "sku", "units_sold", "moved_units", "version"
    assert select_fields(shop, *fields) == [
        (parse_clock("10:00"), MILK, 0, 10, 1),
        (parse_clock("10:30"), MILK, 2, 38, 2),
        (parse_clock("11:00"), MILK, 4, -4, 2),
        (parse_clock("11:00"), WINE, 1, -1, 1),
    ]
    assert select_fields(shop, *fields, period="day") == [
        (MIDNIGHT, MILK, 6, 44, 5),
        (MIDNIGHT, WINE, 1, -1, 1),
    ]


def test_an_event_counts_when_it_was_published(shop: Examples) -> None:
    shop.sell(parse_clock("23:30"), milk(1), published=parse_clock("0:10", days=1))
    assert select_fields(shop, "ends_at") == [(parse_clock("0:30", days=1),)]
    assert select_fields(shop, "ends_at", period="day") == [(MIDNIGHT + timedelta(days=1),)]


def test_what_is_late_for_its_topic_is_in_no_interval(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), milk(1), published=parse_clock("12:01"))
    assert compute_proposals(shop) == []


@pytest.mark.parametrize(("status", "moved"), [("dispatched", 0), ("received", 22)])
def test_a_delivery_moves_the_stock_when_it_is_received(
    shop: Examples, status: str, moved: int
) -> None:
    line = {"sku": MILK, "dispatched_units": 24, "received_units": 22 if moved else 0}
    shop.put(SHIPMENTS, parse_clock("10:00"), store_id=LEEDS, status=status, lines=[line])
    shop.refund(parse_clock("10:00"), milk(3))
    assert select_fields(shop, "units_sold", "moved_units") == [(0, moved + 3)]


def test_bounds_are_the_policys_by_the_share_of_the_hour(shop: Examples) -> None:
    """45 ‰ of a day's receipts are from eight to nine: 99 in half of it are 4,400 a day."""
    shop.sell(parse_clock("8:10"), milk(99))
    bounds = "slow_above_units", "enough_units"
    assert select_fields(shop, *bounds) == [(44_000, 17_600)]
    assert select_fields(shop, *bounds, period="day") == [(990, 396)]
    by_chance = replace(CERTAIN, deviations=2, dispersion=1)  # ± 2 · √(99 + 1)
    assert select_fields(shop, *bounds, period="day", limits=by_chance) == [(1_190, 316)]


def test_what_is_weighed_is_as_slow_as_what_is_counted(shop: Examples) -> None:
    shop.introduce_apples(unit_cost_cents=120)
    shop.sell(parse_clock("10:00"), milk(7), (APPLES, 7_000, 299, "kilogram"))
    fields = "slow_above_units", "enough_units", "measure"
    apples, pieces = select_fields(shop, *fields, limits=Thresholds())
    assert (apples[2], pieces[2]) == ("kilogram", None)
    for ours, theirs in zip(apples[:2], pieces[:2], strict=True):
        assert isinstance(ours, int)
        assert isinstance(theirs, int)
        assert abs(ours - 1_000 * theirs) < 1_000


def test_price_and_cost_are_those_of_the_newest_event(shop: Examples) -> None:
    """At a cost of 120 of which a tenth may be lost."""
    shop.set_price(MILK, 160, parse_clock("10:20"), published=parse_clock("9:00"))
    shop.put(
        PRODUCTS,
        parse_clock("9:00"),
        effective_at=parse_clock("10:40"),
        sku=MILK,
        unit_cost_cents=150,
    )
    for clock in ("10:19:59", "10:20", "10:30", "10:45"):
        shop.sell(parse_clock(clock), milk(1))
    fields = "price_cents", "unit_cost_cents", "markdown_price_cents"
    assert select_fields(shop, *fields) == [(160, 120, 120), (160, 150, 135)]


def test_a_price_that_would_not_be_lower_is_not_proposed(shop: Examples) -> None:
    """Milk costs 120 and is sold for 100, which is less than a tenth may be lost."""
    shop.sell(parse_clock("10:00"), milk(1))
    assert select_fields(shop, "price_cents", "markdown_price_cents") == [(100, None)]


def test_of_a_product_that_nobody_has_announced_the_stock_is_known(shop: Examples) -> None:
    shop.sell(parse_clock("10:00"), ("SKU-NEW", 2, 100))
    fields = "moved_units", "price_cents", "unit_cost_cents", "measure", "markdown_price_cents"
    assert select_fields(shop, *fields) == [(-2, None, None, None, None)]
