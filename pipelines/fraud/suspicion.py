"""From clues to alerts: which groups may trip a rule, and what the rule says of them."""

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.common.choose import choose
from pipelines.fraud.rules import RULES, Clue
from pipelines.fraud.thresholds import Thresholds

PROOF = T.StructType(
    [
        T.StructField("topic", T.StringType()),
        T.StructField("event_id", T.StringType()),
        T.StructField("event_time", T.LongType()),
    ]
)
JUDGED = T.StructType(
    [
        T.StructField("status", T.StringType()),
        T.StructField("store_id", T.StringType()),
        *[
            T.StructField(name, T.LongType())
            for name in ("measured", "threshold", "events", "decided_ms", "version")
        ],
        T.StructField("proofs", T.ArrayType(PROOF)),
    ]
)
"""What a rule says of a group; times are milliseconds of 1970."""


def totals() -> dict[str, Column]:
    """What is kept of a group: all its clues, and enough to see whether a rule is to be asked."""
    cents = F.col("amount")
    return {
        "interval_end": F.max("interval_end"),
        # Of the books nothing: they would gather an empty clue for every record, for ever.
        "_clues": F.collect_list(F.when(F.col("rule").isNotNull(), F.struct(*Clue._fields))),
        "_count": F.count("rule"),
        "_stores": F.min("store_id") != F.max("store_id"),
        "_amount": F.coalesce(F.sum(cents), F.lit(0)),
        "_refunded": F.coalesce(F.sum(F.when(F.col("kind") == "refunded", cents)), F.lit(0)),
        "_unnamed": F.count_if(F.col("kind") == "unnamed"),
    }


def may_trip(limits: Thresholds) -> Column:
    """True wherever the rule could find something; cheap, and true of few groups."""
    needed = {
        "card-velocity": F.col("_count") > limits.card_sales_per_window_max,
        "impossible-travel": F.col("_stores"),
        "sweethearting": F.col("_amount") > limits.given_away_cents_max,
        "refund-without-receipt": F.col("_refunded") > limits.unbacked_cents_max,
        "refund-rate": F.col("_unnamed") > limits.blind_refunds_max,
        "bulk-purchase": F.col("_amount") > limits.packs_hundredths_max,
    }
    return choose((F.col("rule") == rule, condition) for rule, condition in needed.items())


def alerts(groups: DataFrame, limits: Thresholds, is_book: Column) -> DataFrame:
    """From the groups to the rows of the view; the books pass."""
    # In Python: of all groups only those come here that may trip a rule, a few in a thousand.
    judge = F.udf(judged(limits), JUDGED, useArrow=False)  # noqa: TID251
    asked = groups.where(is_book | may_trip(limits)).withColumn("_judged", judge("rule", "_clues"))
    proofs = F.transform(
        "_judged.proofs",
        lambda proof: proof.withField("event_time", F.timestamp_millis(proof["event_time"])),
    )
    told = ("status", "store_id", "measured", "threshold", "events", "version")
    return asked.where(is_book | F.col("_judged").isNotNull()).select(
        "*",
        *[F.col(f"_judged.{name}") for name in told],
        F.timestamp_millis("_judged.decided_ms").alias("decided_at"),
        proofs.alias("evidence"),
    )


def judged(limits: Thresholds) -> Callable[[str | None, Sequence[Row]], dict[str, Any] | None]:
    """What the rule says of a group of clues; None: nothing. The books' rows have no rule."""

    def judge(rule: str | None, group: Sequence[Row]) -> dict[str, Any] | None:
        if rule is None:
            return None
        clues = sorted((Clue(*row) for row in group), key=in_time)
        found = RULES[rule](clues[: limits.clues_max], limits)
        if found is None:
            return None
        proofs = sorted(
            {(one.event_time, one.event_id, one.topic, one.store_id) for one in found.rests_on}
        )
        return {
            "status": "open" if found.open else "withdrawn",
            "store_id": proofs[-1][3],
            "measured": found.measured,
            "threshold": found.threshold,
            "events": len(proofs),
            "decided_ms": found.decided,
            "version": len({(one.topic, one.event_id) for one in clues}),
            "proofs": [
                {"topic": topic, "event_id": event_id, "event_time": at}
                for at, event_id, topic, _ in proofs[: limits.evidence_max]
            ],
        }

    return judge


def in_time(clue: Clue) -> tuple[int, str, str, int, str]:
    return clue.event_time, clue.event_id, clue.topic, clue.line, clue.kind
