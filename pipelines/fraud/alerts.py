"""Makes alerts of signals: selects the groups that may trip a rule, and evaluates the rule."""

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.common.transform.columns import choose, collect_first
from pipelines.fraud.rules import OF_RECEIPT, RULES, Finding, Signal, get_threshold
from pipelines.fraud.signals import SIGNAL, decode_signal
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
"""The result of a rule for a group; times are milliseconds since 1970."""


def build_aggregates(limits: Thresholds) -> dict[str, Column]:
    """The state of a group: its first signals, and the measures by which a rule may trip."""
    most = choose_enough(limits)
    amount = F.when(F.col("amount") > most, most).otherwise(F.col("amount"))
    return {
        "interval_end": F.max("interval_end"),
        # Accounting rows, which have no rule, give no signal. One more than a rule reads shows that
        # there are others: Spark's state holds none of them.
        "_signals": collect_first(
            F.when(F.col("rule").isNotNull(), F.col(SIGNAL)), build_signals_max(limits) + 1
        ),
        "_count": F.count("rule"),
        "_stores": F.min("store_id") != F.max("store_id"),
        "_amount": F.coalesce(F.sum(amount), F.lit(0)),
        "_refunded": F.coalesce(F.sum(F.when(F.col("kind") == "refunded", amount)), F.lit(0)),
        "_blind": F.count_if(F.col("kind") == "blind"),
    }


def choose_enough(limits: Thresholds) -> int:
    """An amount that trips every rule alone. Amounts are capped at it: a sum of capped amounts
    exceeds a threshold where the full sum does, and fits into 64 bits.
    """
    return 1 + max(get_threshold(rule, limits) for rule in RULES)


def build_signals_max(limits: Thresholds) -> Column:
    """The number of a group's signals that its rule reads."""
    is_of_receipt = F.col("rule") == OF_RECEIPT
    return F.when(is_of_receipt, limits.receipt_signals_max).otherwise(limits.signals_max)


def may_trip(limits: Thresholds) -> Column:
    """Whether a group could have a row. The condition is cheap, and true of few groups."""
    measured = {
        "card-velocity": F.col("_count"),
        "sweethearting": F.col("_amount"),
        "refund-without-receipt": F.col("_refunded"),
        "refund-rate": F.col("_blind"),
        "bulk-purchase": F.col("_amount"),
    }
    needed = {rule: each > get_threshold(rule, limits) for rule, each in measured.items()}
    needed["impossible-travel"] = F.col("_stores")
    trips = choose((F.col("rule") == rule, condition) for rule, condition in needed.items())
    return trips | (F.col("_count") > build_signals_max(limits))


def build_alerts(groups: DataFrame, limits: Thresholds) -> DataFrame:
    """Evaluate the groups that may trip a rule. The rows of `is_alert` have the view's columns."""
    # In Python: only groups that may trip a rule come here, a few in a thousand.
    evaluate = F.udf(create_evaluator(limits), FINDING, useArrow=False)  # noqa: TID251
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
    """Whether the rule has a finding on a group."""
    return F.col("status").isNotNull()


def create_evaluator(
    limits: Thresholds,
) -> Callable[[str | None, Sequence[str], int], dict[str, Any] | None]:
    """A function of a group's rule, kept signals and number of all signals that gives its finding.

    The function returns None where there is no finding, as in a group without a rule.
    """

    def evaluate(rule: str | None, group: Sequence[str], count: int) -> dict[str, Any] | None:
        if rule is None:
            return None
        kept = [decode_signal(text) for text in group]
        found = find_alert(rule, kept, limits)
        if found is None:
            return None
        proofs = sorted(
            {
                (signal.event_time, signal.event_id, signal.topic, signal.store_id)
                for signal in found.rests_on
            }
        )
        return {
            "status": "open" if found.open else "withdrawn",
            "store_id": proofs[-1][3],
            "measured": found.measured,
            "threshold": found.threshold,
            "events": len(proofs),
            "evidence_left_out": max(len(proofs) - limits.evidence_max, 0),
            "signals_left_out": max(count - choose_signals_max(rule, limits), 0),
            "decided_ms": found.decided,
            "version": compute_version(kept, count),
            "proofs": [
                {"topic": topic, "event_id": event_id, "event_time": event_time}
                for event_time, event_id, topic, _ in proofs[: limits.evidence_max]
            ],
        }

    return evaluate


def find_alert(rule: str, kept: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """The rule's finding on the first signals. If there are more, there is always a finding.

    A signal that is read later may come before one that counted and displace it. Without this
    finding, the earlier one would be gone, but its row would stay.
    """
    most = choose_signals_max(rule, limits)
    signals, more = kept[:most], kept[most:]
    found = RULES[rule](signals, limits)
    if found is None and more:
        return Finding(0, get_threshold(rule, limits), False, more[0].published, signals)
    return found


def choose_signals_max(rule: str, limits: Thresholds) -> int:
    """The number of a group's signals that the rule reads."""
    return limits.receipt_signals_max if rule == OF_RECEIPT else limits.signals_max


def compute_version(kept: Sequence[Signal], count: int) -> int:
    """The number of events among the kept signals, plus the number of the other signals.

    It grows with every event, whichever signals the event displaces.
    """
    return len({signal.event for signal in kept}) + count - len(kept)
