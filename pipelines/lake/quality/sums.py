"""Counts and sums of whole tables, as small frames for expectations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract
from infra.kafka import Offsets
from pipelines.engine.archive import is_between
from pipelines.lake.tables import EVENTS
from pipelines.lake.transform import AMOUNTS, sum_daily_facts

PLAIN = frozenset(topic.name for topic in EVENTS)
"""Topics without gaps: neither compacted nor written in transactions."""

Day = Mapping[str, int]
"""Units sold and refunded."""


@dataclass(frozen=True)
class DailyTotals:
    """The view's totals of each day, up to some offsets."""

    name: str
    ends: Offsets
    days: Mapping[date, Day]


def count_records(spark: SparkSession, records: DataFrame, ends: Offsets) -> DataFrame:
    """A row per partition that holds, or should hold, records: their number and that of offsets.

    `gaps_max`: the number of offsets that may have no record.
    """
    expected = spark.createDataFrame(
        [
            (*partition, end, 0 if partition[0] in PLAIN else end)
            for partition, end in ends.items()
            if end
        ],
        "topic STRING, partition INT, offsets BIGINT, gaps_max BIGINT",
    )
    found = records.groupBy("topic", "partition").agg(
        F.count("*").alias("records"),
        F.countDistinct("offset").alias("different"),
        F.min("offset").alias("first"),
        F.max("offset").alias("last"),
    )
    counts = expected.join(found, ["topic", "partition"], "full")
    return (
        counts.withColumn("after_last", F.col("last") + 1)
        .fillna(0)
        .withColumn("gaps", F.col("offsets") - F.col("records"))
    )


def find_wrong_sums(gold: DataFrame, silver: Mapping[Contract, DataFrame]) -> DataFrame:
    """The rows of gold that differ from silver, and those that gold lacks; with gold's columns."""
    columns = ["day", "store_id", "sku", *AMOUNTS]
    of_silver = sum_facts(silver).select(columns)
    of_gold = gold.select(columns)
    return of_gold.exceptAll(of_silver).unionByName(of_silver.exceptAll(of_gold))


def sum_facts(silver: Mapping[Contract, DataFrame]) -> DataFrame:
    """The columns of gold, from the events of silver."""
    return sum_daily_facts(
        *[silver[topic] for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)]
    )


def select_below(silver: Mapping[Contract, DataFrame], ends: Offsets) -> dict[Contract, DataFrame]:
    """The events below these offsets."""
    parts = {}
    for topic, events in silver.items():
        of_topic = {partition: end for partition, end in ends.items() if partition[0] == topic.name}
        parts[topic] = (
            events.where(is_between("_partition", "_offset", {}, of_topic))
            if of_topic
            else events.limit(0)
        )
    return parts


def compare_by_day(
    spark: SparkSession,
    silver: Mapping[Contract, DataFrame],
    totals: DailyTotals,
    names: Sequence[str],
) -> DataFrame:
    """A row per `day` of the view, with silver's columns and the view's, which end in `_served`.

    Older days of silver do not count: readers of the view may have dropped them.
    """
    of_view = spark.createDataFrame(
        [(day, *[expected[name] for name in names]) for day, expected in totals.days.items()],
        "day DATE, " + ", ".join(f"{name}_served BIGINT" for name in names),
    )
    days = (
        sum_facts(select_below(silver, totals.ends))
        .groupBy("day")
        .agg(*[F.sum(name).alias(name) for name in names])
    )
    oldest = min(totals.days, default=date.max)
    moving = reduce(or_, [F.col(name) != 0 for name in names])
    recent = days.where((F.col("day") >= F.lit(oldest)) & moving)
    return recent.join(of_view, "day", "full").fillna(0)
