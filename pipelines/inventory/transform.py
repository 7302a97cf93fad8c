"""Names the movements of a shelf and sums them to its stock."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipelines.common.pipeline import Extract

SOLD = "sold"
REFUNDED = "refunded"
RECEIVED = "received"
DISPATCHED = "dispatched"
ADJUSTED = "adjusted"


def extract_as(movement: str) -> Callable[[Column], Extract]:
    """The extract of an event that always moves stock in this way."""
    return lambda event: {"store_id": event["store_id"], "movement": F.lit(movement)}


def extract_shipment(shipment: Column) -> Extract:
    """Both steps of a shipment: its status says how it moves stock."""
    return {"store_id": shipment["store_id"], "movement": shipment["status"]}


def aggregate_stock() -> dict[str, Column]:
    """A row's fields without its key, from the contributions to one shelf.

    Negative units on hand: more was sold than the log accounts for. Negative units in transit: the
    log has a delivery, but not its dispatch.
    """
    received = sum_units(RECEIVED, "received_units")
    return {
        "units_on_hand": received + sum_units(ADJUSTED) + sum_units(REFUNDED) - sum_units(SOLD),
        "units_sold": sum_units(SOLD),
        "units_refunded": sum_units(REFUNDED),
        "units_received": received,
        "units_adjusted": sum_units(ADJUSTED),
        # What is received is no longer in transit, whether all of it arrived or not.
        "units_in_transit": sum_units(DISPATCHED, "dispatched_units")
        - sum_units(RECEIVED, "dispatched_units"),
        "first_event_time": F.min("event_time"),
        "last_event_time": F.max("event_time"),
        "version": F.count_if("first_of_event"),  # events applied: it only grows
    }


def sum_units(movement: str, column: str = "units") -> Column:
    return F.coalesce(F.sum(F.when(F.col("movement") == movement, F.col(column))), F.lit(0))
