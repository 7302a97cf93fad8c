"""Records to events, and events to daily facts: frames in, frame out."""

from collections.abc import Collection
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract, render_spark_ddl
from contracts.projection import list_leaves
from pipelines.common.transform.columns import compute_amount
from pipelines.common.transform.full_sums import add_halves, find_halves, keep_halves
from pipelines.common.transform.validate import find_events, name_column

MOVES = (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)
"""The topics whose events move stock."""

IDENTITY = ("event_id", "event_time")
"""What copies of an event in one partition have in common: `contracts.validation.identify`."""

DAY_MS = 24 * 60 * 60 * 1000

AMOUNTS = (
    "receipts",
    "units_sold",
    "sales_cents",
    "units_refunded",
    "refunded_cents",
    "units_received",
    "units_adjusted",
)
CENTS = ("sales_cents", "refunded_cents")


def accept(topic: Contract, records: DataFrame) -> DataFrame:
    """A row per accepted record of the topic, validated as in every pipeline.

    It has the fields of the contract, `_partition`, `_offset` and `_published`.

    A row of a release is the release itself; the event in it stays wrapped.
    """
    every_field = [path for path, _ in list_leaves(topic.fields)]
    found = find_events({topic: every_field}, records)
    kind = f"STRUCT<{render_spark_ddl(topic)}>"
    return (
        records.select("partition", "offset", "timestamp", found.alias("_found"))
        .where("_found._reason IS NULL")
        .withColumn("_event", F.col(f"_found.{name_column(topic)}").cast(kind))
        .select(
            "_event.*",
            F.col("partition").alias("_partition"),
            F.col("offset").alias("_offset"),
            F.col("timestamp").alias("_published"),
        )
    )


def keep_first_copies(events: DataFrame) -> DataFrame:
    """Of each event the first copy in its partition, with the same columns."""
    copies = Window.partitionBy("_partition", *IDENTITY).orderBy("_offset")
    return events.withColumn("_copy", F.row_number().over(copies)).where("_copy = 1").drop("_copy")


def sum_daily_facts(
    receipts: DataFrame, refunds: DataFrame, shipments: DataFrame, adjustments: DataFrame
) -> DataFrame:
    """A row per UTC `day`, `store_id` and `sku`, with AMOUNTS: the units and cents that moved.

    Every event within its topic's horizon counts; releases do not, as in any window. Cents that do
    not fit into 64 bits are the nearest number that does.
    """
    units = F.col("units").cast("long")
    cents = compute_amount(units, F.col("unit_price_cents"), F.col("measure"))
    parts = (
        to_amounts(explode_lines(receipts), units_sold=units, sales_cents=cents),
        to_amounts(explode_skus(receipts), receipts=F.lit(1)),
        to_amounts(explode_lines(refunds), units_refunded=units, refunded_cents=cents),
        to_amounts(
            explode_lines(shipments.where("status = 'received'")), units_received="received_units"
        ),
        to_amounts(adjustments, units_adjusted=units),
    )
    sums = {
        **{name: F.sum(name) for name in AMOUNTS if name not in CENTS},
        **keep_halves({name: add_halves(F.col(name), F.sum) for name in CENTS}),
    }
    added = reduce(DataFrame.unionByName, parts).groupBy("day", "store_id", "sku")
    return added.agg(*[column.alias(name) for name, column in sums.items()]).select(
        "day",
        "store_id",
        "sku",
        *[
            find_halves(name).nearest.alias(name) if name in CENTS else F.col(name)
            for name in AMOUNTS
        ],
    )


def explode_lines(events: DataFrame) -> DataFrame:
    """A row per line: `event_time`, `store_id`, and the columns of the line."""
    return events.select("event_time", "store_id", F.inline("lines"))


def explode_skus(events: DataFrame) -> DataFrame:
    """A row per event and sku on it: `event_time`, `store_id`, `sku`."""
    skus = F.explode(F.array_distinct("lines.sku"))
    return events.select("event_time", "store_id", skus.alias("sku"))


def to_amounts(lines: DataFrame, **amounts: Column | str) -> DataFrame:
    """A row per line: `day`, `store_id`, `sku`, and AMOUNTS: those that it adds, or zero."""
    given = {name: F.col(of) if isinstance(of, str) else of for name, of in amounts.items()}
    return lines.select(
        to_day("event_time").alias("day"),
        "store_id",
        "sku",
        *[given.get(name, F.lit(0)).cast("long").alias(name) for name in AMOUNTS],
    )


def to_day(event_time: str) -> Column:
    """The day of UTC, whatever the session's zone."""
    return F.date_from_unix_date(to_day_number(event_time))


def to_day_number(event_time: str) -> Column:
    """The number of UTC days from 1970 to the time."""
    return F.floor(F.unix_millis(event_time) / DAY_MS).cast("int")


def is_on_days(numbers: Collection[int]) -> Column:
    """Whether an event happened on one of the days, as ranges, with which Delta skips files."""
    time = F.col("event_time")
    ranges = [
        (time >= F.timestamp_millis(F.lit(number * DAY_MS)))
        & (time < F.timestamp_millis(F.lit((number + 1) * DAY_MS)))
        for number in numbers
    ]
    return reduce(or_, ranges, F.lit(False))
