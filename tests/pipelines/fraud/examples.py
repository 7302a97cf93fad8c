"""Examples of the fraud rules: timelines whose alerts the oracle and the product compute.

The rules run in every example, on plain rows. `test-all` runs every example once more in Spark,
from the bytes of its records on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

from contracts import ALERTS, build_model
from contracts.times import MILLISECOND
from infra.kafka import Record
from ops.verify.fraud import find_signals, list_rules, restore_alert
from ops.verify.inventory import Row
from ops.verify.tables import Tables
from pipelines.fraud.alerts import choose_signals_max, create_evaluator
from pipelines.fraud.pipeline import create_pipeline
from pipelines.fraud.rules import Signal
from pipelines.fraud.signals import DIGITS, NUMBERS, SEPARATOR, SIGN
from pipelines.fraud.thresholds import Thresholds
from tests.pipelines.log import compute_rows, index_rows
from tests.timeline import LEEDS, LONDON, Timeline, parse_clock

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NINE, TEN = parse_clock("9:00"), parse_clock("10:00")
BEGIN = parse_clock("10:41")
CARD = "tok_1"

Product = Callable[[Sequence[Record], Thresholds], list[Row]]
"""Computes the alerts of a log by code of the product, in any order."""


class Examples(Timeline):
    """A timeline of which the product must say what the oracle says."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self._product = product

    def compute_alerts(self, rule: str, **limits: Any) -> list[Row]:
        """The alerts of one rule, which both compute."""
        expected = super().compute_alerts(rule, **limits)
        found = self._product(self.records, Thresholds(**limits))
        of_rule = [row for row in found if row["rule"] == rule]
        assert index_rows(ALERTS, of_rule) == index_rows(ALERTS, expected)
        assert len(of_rule) == len(expected)
        return expected


def compute_in_spark(spark: SparkSession) -> Product:
    """The alerts of the whole pipeline, from records to rows."""
    return lambda log, limits: [*compute_rows(spark, create_pipeline(limits), log).values()]


def compute_by_rules(log: Sequence[Record], limits: Thresholds) -> list[Row]:
    """The alerts that the pipeline's rules find in the signals of a log."""
    evaluate = create_evaluator(limits)
    alerts = []
    for (rule, subject, start), group in collect_signals(log, limits).items():
        kept = sorted(group)[: choose_signals_max(rule, limits) + 1]
        found = evaluate(rule, [write(signal) for signal in kept], len(group))
        if found is not None:
            row = {
                **found,
                "rule": rule,
                "subject": subject.replace("%", "%25").replace("/", "%2F"),
                "interval_start": start,
                "interval_end": start + list_rules(limits)[rule].span // MILLISECOND,
                "decided_at": found["decided_ms"],
                "evidence": found["proofs"],
            }
            del row["decided_ms"], row["proofs"]
            alerts.append(restore_alert(row))
    return alerts


def collect_signals(
    log: Sequence[Record], limits: Thresholds
) -> dict[tuple[str, str, int], list[Signal]]:
    """The signals of each rule, subject and start of an interval, by the oracle's SQL."""
    engine = Tables(log).engine
    find_signals(engine, limits)
    groups = defaultdict(list)
    for row in engine.sql("from signal").to_arrow_table().to_pylist():
        signal = Signal(**{name: row[name] for name in Signal._fields})
        groups[row["rule"], row["subject"], row["interval_start"]].append(signal)
    return groups


def write(signal: Signal) -> str:
    """What Spark writes for the signal: the inverse of `decode_signal`."""
    return SEPARATOR.join(write_parts(signal))


def write_parts(signal: Signal) -> Iterator[str]:
    for name, value in zip(Signal._fields, signal, strict=True):
        if value is None:
            yield ""
        elif name in NUMBERS:
            yield f"{int(value) - SIGN:0{DIGITS}X}"
        else:
            yield str(value).encode().hex().upper()


def sell_often(
    shop: Timeline, times: int, apart: timedelta, begin: datetime = BEGIN, card: str = CARD
) -> list[str]:
    """Sales on one card from `begin` on, each so long after the one before; returns their ids."""
    return [shop.sell(begin + n * apart, card=card) for n in range(times)]


def travel(shop: Timeline, duration: timedelta) -> None:
    """One card buys in Leeds at 10:00, and in London so much later."""
    shop.sell(TEN, card=CARD, store=LEEDS)
    shop.sell(TEN + duration, card=CARD, store=LONDON)


def only(rows: list[Row]) -> Row:
    (row,) = rows
    build_model(ALERTS).model_validate(row)
    return row
