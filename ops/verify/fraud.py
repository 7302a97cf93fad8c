"""The oracle of the fraud pipeline: computes the alerts of a log by a batch read.

It shares only the contracts with the pipeline, and takes the thresholds as data. The contributions
of events and the rules are SQL in DuckDB, one file per rule in `fraud_rules`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb

from contracts import ALERTS
from contracts.times import MILLISECOND
from infra.kafka import Offsets, Record
from ops.verify.inventory import Row
from ops.verify.tables import Tables, restore_times
from pipelines.fraud.thresholds import Thresholds

RULES = Path(__file__).with_name("fraud_rules")

MACROS = """
create macro starts(t, span) as t - ((t % span) + span) % span;
create macro each_proof(t, id, of_topic, store) as
    {event_time: t, event_id: id, topic: of_topic, store_id: store};
create macro haversine(lat_a, lon_a, lat_b, lon_b) as
    pow(sin((lat_b - lat_a) / 2), 2) + cos(lat_a) * cos(lat_b) * pow(sin((lon_b - lon_a) / 2), 2);
create macro metres(lat_a, lon_a, lat_b, lon_b) as
    floor(2 * 6371000 * asin(sqrt(haversine(
        radians(lat_a / 1e6), radians(lon_a / 1e6), radians(lat_b / 1e6), radians(lon_b / 1e6)
    ))))::bigint;
"""
"""`starts`: the beginning of an interval. `each_proof`: an event among a candidate's evidence.
`metres`: whole metres on a sphere between two places in microdegrees."""


class Rule(NamedTuple):
    threshold: int
    """For its alerts, and for the strength of its incidents."""
    span: timedelta
    """The time from an interval's start until no more events can belong to it."""


def list_rules(limits: Thresholds) -> Mapping[str, Rule]:
    refund_span = limits.refund_interval + limits.return_period
    return {
        "card-velocity": Rule(limits.card_sales_per_window_max, limits.card_sales_interval),
        "impossible-travel": Rule(limits.speed_kmh_max, limits.travel_interval),
        "sweethearting": Rule(limits.given_away_cents_max, limits.sweethearting_interval),
        "refund-without-receipt": Rule(limits.unbacked_cents_max, refund_span),
        "refund-rate": Rule(limits.blind_refunds_max, limits.refund_rate_interval),
        "bulk-purchase": Rule(limits.packs_hundredths_max, limits.bulk_interval),
    }


class FraudOracle(Tables):
    """The alerts of some records."""

    def __init__(
        self, records: Iterable[Record], limits: Thresholds, ends: Offsets | None = None
    ) -> None:
        super().__init__(records, ends)
        find_signals(self.engine, limits)
        suspect(self.engine, limits)

    def compute_views(self) -> dict[str, list[Row]]:
        rows = self.select(read_query_text("alerts"))
        return {ALERTS.name: [restore_alert(row) for row in rows]}


def find_signals(engine: duckdb.DuckDBPyConnection, limits: Thresholds) -> None:
    """Make the table `signal`: what each event adds under which rule, subject and interval."""
    engine.execute(MACROS)
    for name, value in asdict(limits).items():
        number = value // MILLISECOND if isinstance(value, timedelta) else value
        engine.execute(f"set variable {name} = {number:d}::bigint")
    engine.execute(read_query_text("signals"))


def suspect(engine: duckdb.DuckDBPyConnection, limits: Thresholds) -> None:
    """Find all candidates for a row."""
    engine.execute(read_query_text("first_signals"))
    engine.execute("create table each_rule (rule varchar, span bigint, fixed_threshold bigint)")
    rules = list_rules(limits)
    values = [
        f"('{name}', {rule.span // MILLISECOND}, {rule.threshold})" for name, rule in rules.items()
    ]
    engine.execute(f"insert into each_rule values {', '.join(values)}")
    candidates = [f"select '{rule}' as rule, * from ({read_query_text(rule)})" for rule in rules]
    engine.execute(f"create table candidate as {' union all by name '.join(candidates)}")
    engine.execute(f"insert into candidate by name {read_query_text('beyond')}")


def read_query_text(query: str) -> str:
    """The SQL of this name; a rule's SQL has the rule's name."""
    return (RULES / f"{query.replace('-', '_')}.sql").read_text()


def restore_alert(row: Row) -> Row:
    """The row with its times as datetimes."""
    evidence = [restore_times(proof, "event_time") for proof in row["evidence"]]
    times = "interval_start", "interval_end", "decided_at"
    return {**restore_times(row, *times), "evidence": evidence}
