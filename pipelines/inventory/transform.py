"""Extracts the movements of a shelf and sums them to its stock."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipelines.common.pipeline import Extract

SOLD = "sold"
REFUNDED = "refunded"
RECEIVED = "received"
ADJUSTED = "adjusted"


def extract_sale(receipt: Column) -> Extract:
    return to_extract(receipt, F.lit(SOLD), build_lines(receipt, "units"))


def extract_refund(refund: Column) -> Extract:
    return to_extract(refund, F.lit(REFUNDED), build_lines(refund, "units"))


def extract_shipment(shipment: Column) -> Extract:
    """Both steps of a shipment: its status says how it moves stock."""
    extracted = build_lines(shipment, "received_units", "dispatched_units")
    return to_extract(shipment, shipment["status"], extracted)


def extract_adjustment(adjustment: Column) -> Extract:
    line = F.struct(
        adjustment["sku"].alias("sku"),
        adjustment["units"].alias("units"),
        F.lit(None).cast("long").alias("units_shipped"),
    )
    return to_extract(adjustment, F.lit(ADJUSTED), F.array(line))


def build_lines(event: Column, units: str, units_shipped: str | None = None) -> Column:
    """An event's lines: the sku, the units that come to its shelf or leave it, and for a shipment
    the units that enter or leave transit.

    It zips the arrays: Spark would run a lambda over an array outside generated code, at half the
    speed.
    """
    no_units = F.array().cast("array<long>")
    shipped_units = event["lines"][units_shipped] if units_shipped else no_units
    return F.arrays_zip(
        event["lines"]["sku"].alias("sku"),
        event["lines"][units].alias("units"),
        shipped_units.alias("units_shipped"),
    )


def to_extract(event: Column, movement: Column, extracted: Column) -> Extract:
    return {"store_id": event["store_id"], "movement": movement, "lines": extracted}


def aggregate_stock() -> dict[str, Column]:
    """A row's fields without its key, from the contributions to one shelf.

    Negative units on hand: more was sold than the log accounts for. Negative units in transit: the
    log has a delivery, but not its dispatch.
    """
    return {
        "units_on_hand": sum_units(RECEIVED)
        + sum_units(ADJUSTED)
        + sum_units(REFUNDED)
        - sum_units(SOLD),
        "units_sold": sum_units(SOLD),
        "units_refunded": sum_units(REFUNDED),
        "units_received": sum_units(RECEIVED),
        "units_adjusted": sum_units(ADJUSTED),
        # What is received is no longer in transit, whether all of it arrived or not.
        "units_in_transit": sum_units("dispatched", "units_shipped")
        - sum_units(RECEIVED, "units_shipped"),
        "first_event_time": F.min("event_time"),
        "last_event_time": F.max("event_time"),
        "version": F.count_if("first_of_event"),  # events applied: it only grows
    }


def sum_units(movement: str, column: str = "units") -> Column:
    return F.coalesce(F.sum(F.when(F.col("movement") == movement, F.col(column))), F.lit(0))
