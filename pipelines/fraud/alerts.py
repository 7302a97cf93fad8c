"""From signals to alerts: which groups may trip a rule, and what the rule finds in them."""

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.internal import InternalFunction

from pipelines.common.transform.choose import choose
from pipelines.fraud.rules import RULES, Finding, Signal, threshold
from pipelines.fraud.thresholds import Thresholds

PROOF = T.StructType(
    [
        T.StructField("topic", T.StringType()),
        T.StructField("event_id", T.StringType()),
        T.StructField("event_time", T.LongType()),
    ]
)
NUMBERS = ("measured", "threshold", "events", "evidence_left_out", "signals_left_out", "version")
FINDING = T.StructType(
    [
        T.StructField("status", T.StringType()),
        T.StructField("store_id", T.StringType()),
        *[T.StructField(name, T.LongType()) for name in (*NUMBERS, "decided_ms")],
        T.StructField("proofs", T.ArrayType(PROOF)),
    ]
)
"""What a rule says of a group; times are milliseconds of 1970."""


def aggregates(limits: Thresholds) -> dict[str, Column]:
    """What state keeps of a group: its first signals, and whether a rule is to be asked."""
    cents = F.col("amount")
    return {
        "interval_end": F.max("interval_end"),
        "_signals": first_signals(kept_max(limits)),
        "_count": F.count("rule"),
        "_stores": F.min("store_id") != F.max("store_id"),
        "_amount": F.coalesce(F.sum(cents), F.lit(0)),
        "_refunded": F.coalesce(F.sum(F.when(F.col("kind") == "refunded", cents)), F.lit(0)),
        "_blind": F.count_if(F.col("kind") == "blind"),
    }


def first_signals(most: int) -> Column:
    """The first signals of a group, in order, at most so many; Spark's state holds no others.

    The function is internal to Spark, which calls it from its own libraries. A group of one signal
    takes the space of one; the public min_by(…, k) takes that of k for every group.
    """
    # Nothing of accounting rows: they would gather an empty signal for every record.
    signal = F.when(F.col("rule").isNotNull(), F.struct(*Signal._fields))
    return InternalFunction.collect_top_k(signal, most, reverse=True)


def kept_max(limits: Thresholds) -> int:
    """As many signals as a rule looks at, and the one with which there were more."""
    return limits.signals_max + 1


def may_trip(limits: Thresholds) -> Column:
    """True wherever there could be a row; cheap, and true of few groups."""
    measured = {
        "card-velocity": F.col("_count"),
        "sweethearting": F.col("_amount"),
        "refund-without-receipt": F.col("_refunded"),
        "refund-rate": F.col("_blind"),
        "bulk-purchase": F.col("_amount"),
    }
    needed = {rule: each > threshold(rule, limits) for rule, each in measured.items()}
    needed["impossible-travel"] = F.col("_stores")
    trips = choose((F.col("rule") == rule, condition) for rule, condition in needed.items())
    return trips | (F.col("_count") > limits.signals_max)


def alerts(groups: DataFrame, limits: Thresholds) -> DataFrame:
    """From groups that may trip a rule to rows with the view's columns; `is_alert` says which."""
    # In Python: of all groups only those come here that may trip a rule, a few in a thousand.
    evaluate = F.udf(evaluator(limits), FINDING, useArrow=False)  # noqa: TID251
    asked = groups.withColumn("_finding", evaluate("rule", "_signals", "_count"))
    proofs = F.transform(
        "_finding.proofs",
        lambda proof: proof.withField("event_time", F.timestamp_millis(proof["event_time"])),
    )
    fields = ("status", "store_id", *NUMBERS)
    return asked.select(
        "*",
        *[F.col(f"_finding.{name}") for name in fields],
        F.timestamp_millis("_finding.decided_ms").alias("decided_at"),
        proofs.alias("evidence"),
    )


def is_alert() -> Column:
    """Whether the rule has found anything in a group."""
    return F.col("status").isNotNull()


def evaluator(
    limits: Thresholds,
) -> Callable[[str | None, Sequence[Row], int], dict[str, Any] | None]:
    """The finding on a group, by its kept signals and the number of all its signals.

    None: there is none, as in a group without a rule.
    """

    def evaluate(rule: str | None, group: Sequence[Row], count: int) -> dict[str, Any] | None:
        if rule is None:
            return None
        kept = [Signal(*row) for row in group]
        found = finding(rule, kept, limits)
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
            "evidence_left_out": max(len(proofs) - limits.evidence_max, 0),
            "signals_left_out": max(count - limits.signals_max, 0),
            "decided_ms": found.decided,
            "version": version(kept, count),
            "proofs": [
                {"topic": topic, "event_id": event_id, "event_time": at}
                for at, event_id, topic, _ in proofs[: limits.evidence_max]
            ],
        }

    return evaluate


def finding(rule: str, kept: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """What the rule finds in the first signals. Where there are more, there is always a finding.

    A signal that is read later may be one of the first, and take the place of one that counted:
    what was found before would be gone, and its row would stay.
    """
    signals, more = kept[: limits.signals_max], kept[limits.signals_max :]
    found = RULES[rule](signals, limits)
    if found is None and more:
        return Finding(0, threshold(rule, limits), False, more[0].published, signals)
    return found


def version(kept: Sequence[Signal], count: int) -> int:
    """How many events the group has; of what is not kept, how many signals.

    With every event it grows, whichever signals that displaces.
    """
    return len({(one.topic, one.event_id) for one in kept}) + count - len(kept)
