"""What moves a shelf, and what the movements leave on it."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import ADJUSTMENTS, RECEIPTS
from pipelines.common.events import META, Events, union

SOLD = "sold"
ADJUSTED = "adjusted"


def movements(events: Events) -> DataFrame:
    """One row per event: its store, how it moves stock, and a line per sku with its units."""
    return union(sold(events[RECEIPTS]), adjusted(events[ADJUSTMENTS]))


def sold(receipts: DataFrame) -> DataFrame:
    # Zipped, not mapped: a lambda over an array would leave generated code, at half the speed.
    lines = F.arrays_zip(F.col("lines.sku").alias("sku"), F.col("lines.units").alias("units"))
    return moved(receipts, SOLD, lines)


def adjusted(adjustments: DataFrame) -> DataFrame:
    return moved(adjustments, ADJUSTED, F.array(F.struct("sku", "units")))


def moved(events: DataFrame, movement: str, lines: Column) -> DataFrame:
    return events.select(*META, "store_id", F.lit(movement).alias("movement"), lines.alias("lines"))


def stock() -> dict[str, Column]:
    """What the entries of one shelf add up to.

    Negative units on hand: more was sold than the log accounts for.
    """
    return {
        "units_on_hand": units(ADJUSTED) - units(SOLD),
        "units_sold": units(SOLD),
        "units_adjusted": units(ADJUSTED),
        "first_event_time": F.min("event_time"),
        "last_event_time": F.max("event_time"),
        "version": F.count_if("first_of_event"),  # events applied: it only grows
    }


def units(movement: str) -> Column:
    return F.coalesce(F.sum(F.when(F.col("movement") == movement, F.col("units"))), F.lit(0))
