"""Makes visits of receipts: a customer's receipts of a day, split at long pauses.

It uses lambdas over arrays, though Spark does not generate code for them: there is one row per
customer and day, with a handful of lines.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.common.pipeline import Contribution, Extract
from pipelines.common.transform.amount import compute_amount
from pipelines.common.transform.full_sums import (
    carry,
    join_halves,
    keep_halves,
    take_high_bits,
    take_low_bits,
)
from pipelines.visits.thresholds import Thresholds

DAY = ("customer_id", "day_start")
"""The columns that group lines."""

MINUTE_MS = 60 * 1000
DAY_MS = 24 * 60 * MINUTE_MS
LINE = ("at", "store_id", "units", "cents", "first_of_event")


def extract_sale(receipt: Column) -> Extract:
    lines = receipt["lines"]
    return {
        "store_id": receipt["store_id"],
        "customer_id": to_key(receipt["customer_id"]),
        "lines": F.arrays_zip(
            lines["units"].alias("units"),
            lines["unit_price_cents"].alias("unit_price_cents"),
            lines["measure"].alias("measure"),
        ),
    }


def to_key(customer: Column) -> Column:
    """The customer, escaped as a part of a record's key, whose separator is a slash."""
    return F.replace(F.replace(customer, F.lit("%"), F.lit("%25")), F.lit("/"), F.lit("%2F"))


def build_contributions() -> list[Contribution]:
    """A line of a receipt with a customer; days are UTC days."""
    at = F.unix_millis("event_time")
    day = at - F.pmod(at, F.lit(DAY_MS))
    return [
        Contribution(
            {
                "customer_id": F.col("customer_id"),
                "day_start": F.timestamp_millis(day),
                "day_end": F.timestamp_millis(day + DAY_MS),
                "at": at,
                "store_id": F.col("store_id"),
                "units": F.col("units").cast("long"),
                "cents": compute_amount(
                    F.col("units"), F.col("unit_price_cents"), F.col("measure")
                ),
            },
            F.col("customer_id").isNotNull(),
        )
    ]


def build_aggregates() -> dict[str, Column]:
    """The lines of a customer's day, and its number of receipts; without accounting rows."""
    of_day = F.col("customer_id").isNotNull()
    return {
        "day_end": F.max("day_end"),
        "_lines": F.collect_list(F.when(of_day, F.struct(*LINE))),
        "version": F.count_if("first_of_event"),
    }


def build_visits(days: DataFrame, limits: Thresholds) -> DataFrame:
    """Rows with the view's columns, from the days.

    Each time with a receipt has a row: a visit, or a withdrawn one if an earlier receipt's visit
    goes on. So no row disappears when an earlier receipt is read later.
    """
    pause = limits.pause_minutes * MINUTE_MS
    start = F.col("_start")
    moments = F.array_sort(F.array_distinct(F.transform("_lines", lambda line: line["at"])))
    before_pause = F.filter(
        "_moments",
        lambda at, number: F.coalesce(F.get("_moments", number + 1) - at >= pause, F.lit(True)),
    )
    goes_on = F.exists("_moments", lambda at: (at < start) & (start - at < pause))
    own = F.filter("_lines", lambda line: line["at"].between(start, F.col("_last")))
    spent = carry(
        sum_lines("_own", lambda line: take_high_bits(line["cents"])),
        sum_lines("_own", lambda line: take_low_bits(line["cents"])),
    )
    found = (
        days.withColumn("_moments", moments)
        .withColumn("_lasts", before_pause)
        .select("*", F.explode_outer("_moments").alias("_start"))
        .withColumn("_last", F.array_min(F.filter("_lasts", lambda at: at >= start)))
        .withColumn("_own", own)
        .withColumns(keep_halves({"spent_cents": spent}))
    )
    ends = F.least(F.col("_last") + pause, F.unix_millis("day_end"))
    stores = F.array_distinct(F.transform("_own", lambda line: line["store_id"]))
    rows = found.select(
        "*",
        F.timestamp_millis("_start").alias("visit_start"),
        F.timestamp_millis("_last").alias("visit_end"),
        F.timestamp_millis(ends).alias("window_end"),
        F.when(goes_on, "withdrawn").otherwise("counted").alias("status"),
        F.size(F.filter("_own", lambda line: line["first_of_event"]))
        .cast("long")
        .alias("receipts"),
        F.size(stores).cast("long").alias("stores"),
        sum_lines("_own", lambda line: line["units"]).alias("units"),
    )
    return join_halves(rows, ["spent_cents"])


def sum_lines(lines: str, of: Callable[[Column], Column]) -> Column:
    """The sum of `of` over the lines."""
    return F.aggregate(lines, F.lit(0).cast("long"), lambda total, line: total + of(line))
