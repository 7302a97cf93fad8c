"""Makes markdown proposals of what moved and what was sold of a product in all stores.

A line of an event contributes to the half-hour and to the day of its publication.
"""

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts.measures import UNITS_PER_MEASURE
from pipelines.common.pipeline import Contribution, Extract
from pipelines.common.transform.columns import (
    COLUMNS,
    begin_of,
    choose,
    name_measure,
    number_measure,
    sum_units,
)
from pipelines.pricing.policy import (
    count_half_hours_per_day,
    derive_bounds,
    lower_price_cents,
)
from pipelines.pricing.thresholds import Thresholds

HALF_HOUR_MS = 30 * 60 * 1000
HOUR_MS = 2 * HALF_HOUR_MS
HALF_HOUR, DAY = "half-hour", "day"
PERIODS_MS = {HALF_HOUR: HALF_HOUR_MS, DAY: 24 * HOUR_MS}
SOLD, CAME, RECEIVED = "sold", "came", "received"
"""What an event does to the stock of a product."""


def extract_as(movement: str) -> Callable[[Column], Extract]:
    """The extract of an event that always moves stock in this way."""
    return lambda _: {"movement": F.lit(movement)}


def extract_shipment(shipment: Column) -> Extract:
    """Both steps of a shipment: only what is received moves stock."""
    return {"movement": shipment["status"]}


def build_line_columns() -> Mapping[str, Column]:
    """By how much a line moved the stock, what it sold, and the number of the product's measure."""
    units, movement = F.col("units"), F.col("movement")
    moved = {SOLD: -units, CAME: units, RECEIVED: F.col("received_units")}
    return {
        "moved": F.coalesce(choose((movement == name, by) for name, by in moved.items()), F.lit(0)),
        "sold": F.when(movement == SOLD, units).otherwise(0),
        "measure_number": number_measure(F.col("measure")),
    }


def build_contributions() -> list[Contribution]:
    """A line's contributions to its intervals."""
    return [Contribution({"period": F.lit(name)}) for name in PERIODS_MS]


def derive_end() -> Mapping[str, Column]:
    """The end of the interval in which the line was published."""
    ends_ms = choose(
        (F.col("period") == name, begin_of(length_ms) + length_ms)
        for name, length_ms in PERIODS_MS.items()
    )
    return {"ends_at": F.timestamp_millis(ends_ms)}


def build_aggregates() -> dict[str, Column]:
    """The aggregates of the contributions to one product and interval.

    Price, cost and measure are those of the newest event that has any. Two events of the same time
    have the same.
    """
    priced_at = F.when(F.col("price_cents").isNotNull(), F.col("event_time"))
    introduced_at = F.when(F.col("unit_cost_cents").isNotNull(), F.col("event_time"))
    return {
        "units_sold": sum_units(F.col("sold")),
        "moved_units": sum_units(F.col("moved")),
        "price_cents": F.max_by("price_cents", priced_at).cast("long"),
        "unit_cost_cents": F.max_by("unit_cost_cents", introduced_at).cast("long"),
        "measure_number": F.max_by("measure_number", introduced_at),
        "version": F.count_if("first_of_event"),
    }


def build_proposals(intervals: DataFrame, limits: Thresholds) -> DataFrame:
    """Proposals with their view's columns, from aggregates."""
    price, cost = F.col("price_cents"), F.col("unit_cost_cents")
    units_each = F.when(F.col("measure_number") > 0, UNITS_PER_MEASURE).otherwise(1)
    shares = F.array(*map(F.lit, limits.shares_permille))
    began_ms = F.unix_millis("ends_at") - HALF_HOUR_MS
    hour = F.pmod(F.call_function("div", began_ms, F.lit(HOUR_MS)), F.lit(24)).cast("int")
    per_day = F.when(F.col("period") == DAY, 1.0).otherwise(
        count_half_hours_per_day(F.get(shares, hour))
    )
    bounds = derive_bounds(F.col("units_sold"), per_day, units_each, limits, COLUMNS)
    lower = lower_price_cents(price, cost, limits, COLUMNS)
    return intervals.withColumns(
        {
            **bounds._asdict(),
            "measure": name_measure(F.col("measure_number")),
            "markdown_price_cents": F.when(cost.isNotNull() & (lower < price), lower),
        }
    )
