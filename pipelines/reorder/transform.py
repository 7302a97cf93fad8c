"""Makes order proposals of the movements of a shelf, and its position's changes by minute.

A line of an event contributes to the seven reviews after its publication. The first of them counts
the units that it moved; each counts the units that it sold, on its day of the seven. It contributes
to the minute of its publication too.
"""

from collections.abc import Callable, Mapping, Sequence

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
    to_columns,
)
from pipelines.reorder.policy import (
    DAYS,
    HOURS_PER_DAY,
    NO_PLAN,
    PARTS,
    Plan,
    Policy,
    Sold,
    derive_first_levels,
    derive_levels,
    estimate_usual_milli,
    find_weekday,
    forecast_demand,
    lift_permille,
)

MINUTE_MS = 60 * 1000
DAY_MS = 24 * 60 * MINUTE_MS
PRODUCT = ("unit_cost_cents", "pack_size_units", "lead_time_days", "lead_time_hours", "measure")
"""The columns of a line's product."""
TERMS = (
    *("unit_cost_cents", "pack_size_units", "lead_time_days", "lead_time_hours"),
    "measure_number",
)
"""A product's terms: numbers, since Spark aggregates only numbers in place."""
PLAN = {
    "starts_at": "plan_starts_ms",
    "ends_at": "plan_ends_ms",
    "usual_price_cents": "usual_price_cents",
    "price_cents": "price_cents",
}
"""The columns of a product's promotion plan."""
PLANNED = ("plan_starts_ms", "plan_ends_ms", "plan_lift_permille")
"""A review's columns of a plan: numbers, too."""
LEVELS = ("reorder_point_units", "order_up_to_units")


SOLD, CAME, DISPATCHED, RECEIVED = "sold", "came", "dispatched", "received"
PACKED = "packed"  # dispatched for an order
"""What an event does to the position of a shelf, which goods in transit are a part of."""


def extract_as(movement: str) -> Callable[[Column], Extract]:
    """The extract of an event that always moves the position in this way."""
    return lambda event: to_extract(event, F.lit(movement))


def extract_shipment(shipment: Column) -> Extract:
    """Goods in transit count in the position: from their order on, or else from their dispatch."""
    is_packed = (shipment["status"] == DISPATCHED) & shipment["purchase_order_id"].isNotNull()
    return to_extract(shipment, F.when(is_packed, PACKED).otherwise(shipment["status"]))


def extract_adjustment(adjustment: Column) -> Extract:
    opens = adjustment["reason"] == "opening"
    return {**to_extract(adjustment, F.lit(CAME)), "opens": opens}


def to_extract(event: Column, movement: Column) -> Extract:
    """`movement`: null for what moves nothing."""
    return {"store_id": event["store_id"], "movement": movement, "opens": F.lit(False)}


def count_moved() -> Column:
    """The units by which a line moves the position. What an order asked for and its dispatch lacks
    is subtracted then, what its delivery lacks when it is received.
    """
    moved = {
        SOLD: -F.col("units"),
        CAME: F.col("units"),
        DISPATCHED: F.col("dispatched_units"),
        PACKED: F.col("dispatched_units") - F.col("ordered_units"),
        RECEIVED: F.col("received_units") - F.col("dispatched_units"),
    }
    movement = F.col("movement")
    return F.coalesce(choose((movement == name, units) for name, units in moved.items()), F.lit(0))


def build_line_columns(policy: Policy) -> Mapping[str, Column]:
    """What a line moved and sold, as if at the usual price, what the plan does to sales, and the
    number of the product's measure, from one on; zero: it is sold by the piece.
    """
    sold = F.when(F.col("movement") == SOLD, F.col("units")).otherwise(0)
    lift = lift_permille(F.col("usual_price_cents"), F.col("price_cents"), policy, COLUMNS)
    happened_ms = F.unix_millis("event_time")
    starts_ms, ends_ms = F.col("plan_starts_ms"), F.col("plan_ends_ms")
    promoted = (happened_ms >= starts_ms) & (happened_ms < ends_ms)
    return {
        "moved": count_moved(),
        "sold": sold,
        "usual_milli": estimate_usual_milli(sold, F.when(promoted, lift).otherwise(1_000), COLUMNS),
        "plan_lift_permille": lift,
        "measure_number": number_measure(F.col("measure")),
    }


def build_contributions() -> list[Contribution]:
    """A line's contributions to its reviews; `day` counts back from the review, from zero."""
    return [Contribution({"day": F.lit(day)}) for day in range(DAYS)]


def derive_review() -> Mapping[str, Column]:
    """The review. Only the first one counts what the line moved."""
    return {
        "review_at": F.timestamp_millis(begin_of(DAY_MS) + (F.col("day") + 1) * DAY_MS),
        "moved": F.when(F.col("day") == 0, F.col("moved")).otherwise(0),
        "opened": F.lit(0),
        "part": find_part(),
    }


def find_part() -> Column:
    """The part of the day in which a line was published, from zero."""
    past = F.unix_millis("published") - begin_of(DAY_MS)
    return F.call_function("div", past, F.lit(DAY_MS // PARTS))


def build_change() -> list[Contribution]:
    """A line's contribution to its minute."""
    return [Contribution({})]


def derive_minute() -> Mapping[str, Column]:
    """The end of the minute, what the line moved, and what of it the shelf opened with."""
    return {
        "changed_at": F.timestamp_millis(begin_of(MINUTE_MS) + MINUTE_MS),
        "moved": F.col("moved"),
        "opened": F.when(F.col("opens"), F.col("moved")).otherwise(0),
        "part": F.lit(None).cast("long"),
    }


def build_aggregates() -> dict[str, Column]:
    """The aggregates of the contributions to one shelf, and one review or minute.

    The terms are those of the newest event that has any; so is the plan. Two events of the same
    time have the same.
    """
    known_at = F.when(F.col("pack_size_units").isNotNull(), F.col("event_time"))
    planned_at = F.when(F.col("plan_starts_ms").isNotNull(), F.col("event_time"))
    return {
        "moved_units": sum_units(F.col("moved")),
        "opened_units": sum_units(F.col("opened")),
        "sold_units": sum_units(F.col("sold")),
        **{
            name_sold_on(day): sum_units(F.when(F.col("day") == day, F.col("usual_milli")))
            for day in range(DAYS)
        },
        **{
            name_sold_in(part): sum_units(F.when(F.col("part") == part, F.col("usual_milli")))
            for part in range(PARTS)
        },
        "days": F.coalesce(F.max(F.when(F.col("opens"), F.col("day"))) + 1, F.lit(DAYS)),
        **{name: F.max_by(name, known_at) for name in TERMS},
        **{name: F.max_by(name, planned_at) for name in PLANNED},
        "version": F.count_if("first_of_event"),
    }


def is_known() -> Column:
    """Whether a product's terms are known: without terms there is no order and no row."""
    return F.col("pack_size_units").isNotNull()


def build_proposals(reviews: DataFrame, policy: Policy) -> DataFrame:
    """Proposals and changes with their views' columns, from aggregates with known terms."""
    opened = F.col("opened_units")
    lead_days = F.col("lead_time_days") + F.coalesce(F.col("lead_time_hours"), F.lit(0)) / F.lit(
        float(HOURS_PER_DAY)
    )
    kept = Kept(reviews)
    on = COLUMNS._replace(keep=kept.keep)
    proposed = derive_levels(
        forecast_demand(build_sold(), policy, on),
        lead_days,
        F.col("pack_size_units"),
        F.col("unit_cost_cents"),
        build_plan(),
        policy,
        on,
        count_units_each(),
    )
    first = derive_first_levels(opened, lead_days, policy, COLUMNS)
    is_change = F.col("changed_at").isNotNull()
    opens = (opened > 0) & (policy.review_days == 0)
    points = F.array(*[F.struct(point.alias("units")) for point in proposed.points])
    return kept.frame.withColumns(
        {
            **{
                name: F.when(~is_change, level).when(opens, first_level)
                for name, level, first_level in zip(LEVELS, proposed, first, strict=False)
            },
            "reorder_points": points if proposed.points else F.lit(None),
            "measure": name_measure(F.col("measure_number")),
            "review_days": F.lit(policy.review_days),
        }
    )


class Kept:
    """A frame that has values as columns: Spark computes an expression wherever it stands."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self._count = 0

    def keep(self, values: Sequence[Column | float]) -> list[Column]:
        names = [f"_kept_{self._count + number}" for number in range(len(values))]
        self._count += len(values)
        self.frame = self.frame.withColumns(dict(zip(names, to_columns(*values), strict=True)))
        return [F.col(name) for name in names]


def build_sold() -> Sold:
    """What the shelf of a review sold; of a minute, nothing."""
    day = COLUMNS.divided(F.unix_millis("review_at"), DAY_MS)
    daily, parts = (
        [
            COLUMNS.divided(F.col(name(number)), count_units_each()).cast("double")
            for number in range(count)
        ]
        for name, count in ((name_sold_on, DAYS), (name_sold_in, PARTS))
    )
    return Sold(daily, parts, F.col("days"), find_weekday(day))


def count_units_each() -> Column:
    """The units of what a row's policy counts: pieces, or whole measures."""
    return F.when(F.col("measure_number") > 0, UNITS_PER_MEASURE).otherwise(1)


def build_plan() -> Plan:
    """The plan of a shelf's product, relative to the review."""
    seen = Plan(F.col("plan_lift_permille"), count_days_after("starts"), count_days_after("ends"))
    return Plan(*map(F.coalesce, seen, map(F.lit, NO_PLAN)))


def count_days_after(edge: str) -> Column:
    """Days from the review to the plan's start or end."""
    return (F.col(f"plan_{edge}_ms") - F.unix_millis("review_at")) / DAY_MS


def name_sold_on(day: int) -> str:
    return f"_sold_{day}"


def name_sold_in(part: int) -> str:
    return f"_part_{part}"
