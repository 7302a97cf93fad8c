"""What moves a shelf, and what the movements leave on it."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from pipelines.common.events import META, Events, union

SOLD = "sold"
REFUNDED = "refunded"
DISPATCHED = "dispatched"
RECEIVED = "received"
ADJUSTED = "adjusted"


def movements(events: Events) -> DataFrame:
    """One row per event: its store, how it moves stock, and a line per sku.

    A line has the units that come to the shelf or leave it, and of a shipment the units that are
    under way from then on, or no longer.
    """
    return union(
        sold(events[RECEIPTS]),
        refunded(events[REFUNDS]),
        shipped(events[SHIPMENTS]),
        adjusted(events[ADJUSTMENTS]),
    )


def sold(receipts: DataFrame) -> DataFrame:
    return moved(receipts, F.lit(SOLD), lines("units"))


def refunded(refunds: DataFrame) -> DataFrame:
    return moved(refunds, F.lit(REFUNDED), lines("units"))


def shipped(shipments: DataFrame) -> DataFrame:
    """Both steps of a shipment in one branch: its status says how it moves stock."""
    return moved(shipments, F.col("status"), lines("received_units", "dispatched_units"))


def adjusted(adjustments: DataFrame) -> DataFrame:
    line = F.struct("sku", "units", F.lit(None).cast("int").alias("units_shipped"))
    return moved(adjustments, F.lit(ADJUSTED), F.array(line))


def lines(units: str, units_shipped: str | None = None) -> Column:
    """An event's lines, each with its sku and these of its fields.

    Zipped, not mapped: a lambda over an array would leave generated code, at half the speed.
    """
    no_units = F.array().cast("array<int>")
    shipped_units = F.col(f"lines.{units_shipped}") if units_shipped else no_units
    return F.arrays_zip(
        F.col("lines.sku").alias("sku"),
        F.col(f"lines.{units}").alias("units"),
        shipped_units.alias("units_shipped"),
    )


def moved(events: DataFrame, movement: Column, posted: Column) -> DataFrame:
    return events.select(*META, "store_id", movement.alias("movement"), posted.alias("lines"))


def stock() -> dict[str, Column]:
    """What the entries of one shelf add up to.

    Negative units on hand: more was sold than the log accounts for. Negative units in transit: a
    delivery is known whose dispatch is not.
    """
    return {
        "units_on_hand": received() + units(ADJUSTED) + units(REFUNDED) - units(SOLD),
        "units_sold": units(SOLD),
        "units_refunded": units(REFUNDED),
        "units_received": received(),
        "units_adjusted": units(ADJUSTED),
        "units_in_transit": dispatched() - closed(),
        "first_event_time": F.min("event_time"),
        "last_event_time": F.max("event_time"),
        "version": F.count_if("first_of_event"),  # events applied: it only grows
    }


def received() -> Column:
    return units(RECEIVED)


def dispatched() -> Column:
    return units(DISPATCHED, "units_shipped")


def closed() -> Column:
    """What is no longer under way, whether all of it was there or not."""
    return units(RECEIVED, "units_shipped")


def units(movement: str, column: str = "units") -> Column:
    return F.coalesce(F.sum(F.when(F.col("movement") == movement, F.col(column))), F.lit(0))
