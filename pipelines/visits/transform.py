"""Makes visits of receipts: a customer's receipts of a day, split at long pauses.

The day is cut into slots as long as the pause. Receipts of one slot belong to one visit, and at
most one visit begins in a slot. So state holds sums by slot, however many the receipts are, and a
visit is the sum of some slots in a row. The lambdas over arrays, which Spark generates no code for,
see one row per customer and day, with a handful of slots.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.common.pipeline import Contribution, Extract
from pipelines.common.transform.columns import compute_amount, escape_key_part, sum_by_slot
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
RECEIPTS, UNITS, HIGH, LOW = range(4)
"""Where the sums of a slot are: receipts, units, and the high and the low bits of cents."""


def extract_sale(receipt: Column) -> Extract:
    return {"store_id": receipt["store_id"], "customer_id": escape_key_part(receipt["customer_id"])}


def build_contributions() -> list[Contribution]:
    """A line of a receipt with a customer, and the time of day of the receipt, in milliseconds."""
    of_day = F.pmod(F.unix_millis("event_time"), F.lit(DAY_MS))
    return [Contribution({"of_day": of_day}, F.col("customer_id").isNotNull())]


def derive_columns(limits: Thresholds) -> dict[str, Column]:
    """Day and slot of a receipt, and what a line came to; days are UTC days.

    A slot is the milliseconds from midnight to its start.
    """
    event_ms, of_day = F.unix_millis("event_time"), F.col("of_day")
    return {
        "day_start": F.timestamp_millis(event_ms - of_day),
        "day_end": F.timestamp_millis(event_ms - of_day + DAY_MS),
        "slot": of_day - F.pmod(of_day, F.lit(limits.pause_minutes * MINUTE_MS)),
        "event_ms": event_ms,
        "cents": compute_amount(F.col("units"), F.col("unit_price_cents"), F.col("measure")),
    }


def build_aggregates(limits: Thresholds) -> dict[str, Column]:
    """The slots of a customer's day, and its number of receipts. Accounting rows have no slot."""
    cents = F.col("cents")
    return {
        "day_end": F.max("day_end"),
        "_slots": sum_by_slot(
            F.col("slot"),
            F.col("event_ms"),
            F.col("store_id"),
            limits.stores_max,
            [F.col("first_of_event"), F.col("units"), take_high_bits(cents), take_low_bits(cents)],
        ),
        "version": F.count_if("first_of_event"),
    }


def build_visits(days: DataFrame, limits: Thresholds) -> DataFrame:
    """Rows with the view's columns, from the days.

    Each slot with a receipt has a row: a visit, or a withdrawn one if an earlier receipt's visit
    goes on. So no row disappears when an earlier receipt is read later.
    """
    pause = limits.pause_minutes * MINUTE_MS
    first_slot, last = F.col("_slot"), F.col("_last")
    before_pause = F.filter(
        "_slots",
        lambda slot, place: F.coalesce(
            F.get("_slots", place + 1)["first"] - slot["last"] >= pause, F.lit(True)
        ),
    )
    found = (
        days.withColumn("_lasts", before_pause)
        .select("*", F.posexplode_outer("_slots").alias("_place", "_slot"))
        .withColumn("_before", F.get("_slots", F.col("_place") - 1))
        .withColumn(
            "_last",
            F.array_min(F.filter("_lasts", lambda slot: slot["slot"] >= first_slot["slot"])),
        )
        .withColumn(
            "_own",
            F.filter("_slots", lambda slot: slot["slot"].between(first_slot["slot"], last["slot"])),
        )
        .withColumns(keep_halves({"spent_cents": carry(sum_slots(HIGH), sum_slots(LOW))}))
    )
    goes_on = first_slot["first"] - F.col("_before")["last"] < pause
    ends = F.least(last["last"] + pause, F.unix_millis("day_end"))
    stores = F.array_distinct(F.flatten(F.transform("_own", lambda slot: slot["members"])))
    rows = found.select(
        "*",
        F.timestamp_millis(F.unix_millis("day_start") + first_slot["slot"]).alias("slot_start"),
        F.timestamp_millis(first_slot["first"]).alias("visit_start"),
        F.timestamp_millis(last["last"]).alias("visit_end"),
        F.timestamp_millis(ends).alias("window_end"),
        F.when(goes_on, "withdrawn").otherwise("counted").alias("status"),
        sum_slots(RECEIPTS).alias("receipts"),
        F.least(F.size(stores), F.lit(limits.stores_max)).cast("long").alias("stores"),
        sum_slots(UNITS).alias("units"),
    )
    return join_halves(rows, ["spent_cents"])


def sum_slots(number: int) -> Column:
    """What the slots of a visit add up to, of the sum with this number."""
    return F.aggregate(
        "_own", F.lit(0).cast("long"), lambda total, slot: total + slot["sums"][number]
    )
