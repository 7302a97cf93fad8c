"""The hot path's predicates and the expectations name the same bad rows."""

from datetime import timedelta
from pathlib import Path

import great_expectations as gx
import pytest
from great_expectations.core import ExpectationValidationResult
from pyspark.sql import DataFrame, SparkSession

from contracts import CONTRACTS, RECEIPTS, REFUNDS, Contract, render_spark_ddl
from contracts.checks import order_checks
from contracts.partitions import choose_partition
from infra.folder import Folder
from pipelines.lake.quality.checks import (
    COMPARED,
    Pinned,
    Suite,
    Verdict,
    check_records,
    check_totals,
    create_own_context,
    reach_verdict,
)
from pipelines.lake.quality.expectations import build_frames, list_expectations
from pipelines.lake.quality.sums import DailyTotals, compare_by_day, count_records
from pipelines.lake.tables import EVENTS, Table
from pipelines.lake.transform import MOVES, accept
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import draw_records, typed
from tests.pipelines.log import OPENING, create_log, receipt, refund
from tests.rows import collect_rows

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

RECORDS = 60
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def bad(spark: SparkSession) -> dict[str, DataFrame]:
    """By topic: events with a number, drawn so that rules are kept and broken."""
    return {topic.name: number_events(spark, topic) for topic in EVENTS}


def number_events(spark: SparkSession, topic: Contract) -> DataFrame:
    candidates = [
        *topic.examples,
        *(example.value for example in topic.invalid_examples),
        *draw_records(typed(topic), RECORDS),
    ]
    # The others break what Avro cannot leave out: they are never decoded.
    asked = {rule.name for rule in order_checks(topic)}
    events = [event for event in candidates if find_broken_rules(topic, event) <= asked]
    rows = [
        (number, *[event[field.name] for field in topic.fields])
        for number, event in enumerate(events)
    ]
    return spark.createDataFrame(rows, f"number INT, {render_spark_ddl(topic)}").coalesce(1)


@pytest.mark.parametrize("topic", EVENTS, ids=lambda topic: topic.entity)
def test_they_agree(bad: dict[str, DataFrame], topic: Contract) -> None:
    events = bad[topic.name].persist()
    hot = check_by_rules(topic, events)
    cold = check_by_expectations(topic, events)
    assert cold == hot
    assert any(hot.values())


def check_by_rules(topic: Contract, events: DataFrame) -> dict[str, set[int]]:
    """By rule: the events that break it, as the pipelines see them."""
    broken: dict[str, set[int]] = {rule.name: set() for rule in order_checks(topic)}
    for event in collect_rows(events):
        number = event.pop("number")
        for name in find_broken_rules(topic, event):
            broken[name].add(number)
    return broken


def check_by_expectations(topic: Contract, events: DataFrame) -> dict[str, set[int]]:
    """By rule: the events that do not keep what is expected."""
    context = create_own_context()
    source = context.data_sources.add_spark("drawn", persist=False)
    named = build_frames(topic, events, "number")
    broken: dict[str, set[int]] = {}
    for name, rules in list_expectations(topic).items():
        asset = source.add_dataframe_asset(name)
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch(
            {"dataframe": named[name]}
        )
        suite = gx.ExpectationSuite(name=name, expectations=list(rules.values()))
        answer = batch.validate(
            suite,
            result_format={
                "result_format": "COMPLETE",
                "unexpected_index_column_names": ["number"],
            },
        )
        for result in answer.results:
            broken[find_rule(result)] = {event["number"] for event in list_unexpected(result)}
    return broken


def find_rule(result: ExpectationValidationResult) -> str:
    assert result.expectation_config is not None
    return str(result.expectation_config.description)


def list_unexpected(result: ExpectationValidationResult) -> list[dict[str, int]]:
    assert not result.exception_info.get("raised_exception"), result.exception_info
    places: list[dict[str, int]] = result.result.get("unexpected_index_list") or []
    return places


PART = (RECEIPTS.name, choose_partition(b"S001", RECEIPTS.settings.partitions))


def create_records(spark: SparkSession, *offsets: int) -> DataFrame:
    rows = [(*PART, offset) for offset in offsets]
    return spark.createDataFrame(rows, "topic STRING, partition INT, offset BIGINT")


@pytest.mark.parametrize(
    ("offsets", "broken"),
    [
        ((0, 1, 2), 0),
        ((0, 2), 1),  # one is missing
        ((0, 1), 1),  # the last one is
        ((0, 1, 1, 2), 1),  # one is there twice
        ((0, 1, 2, 3), 1),  # one is there already
    ],
)
def test_records_are_counted_against_offsets(
    spark: SparkSession, tmp_path: Path, offsets: tuple[int, ...], broken: int
) -> None:
    ends = {PART: 3}
    suite = check_records(
        pin_nowhere(tmp_path), count_records(spark, create_records(spark, *offsets), ends)
    )
    assert bool(check_suite(suite).failed) == bool(broken)


def pin_nowhere(folder: Path) -> Pinned:
    return Pinned(Table(Folder(str(folder)), ""), 0, {})


def check_suite(suite: Suite) -> Verdict:
    context = create_own_context()
    return reach_verdict(context, context.data_sources.add_spark("lake", persist=False), suite)


@pytest.mark.parametrize(("told_units", "agree"), [(5, True), (4, False)])
def test_totals_are_held_against_what_a_view_tells(
    spark: SparkSession, tmp_path: Path, told_units: int, agree: bool
) -> None:
    """The view has counted two receipts of the three, and forgotten the day before."""
    log = create_log(
        spark,
        receipt(("A", 1), happens=-DAY),
        receipt(("A", 2), ("B", 3)),
        receipt(("A", 100)),
        refund(("B", 1)),
    )
    silver = {topic: accept(topic, log.where(log.topic == topic.name)) for topic in MOVES}
    totals = DailyTotals(
        "a view",
        {PART: 2, (REFUNDS.name, PART[1]): 1},
        {OPENING.date(): {"units_sold": told_units, "units_refunded": 1}},
    )
    frame = compare_by_day(spark, silver, totals, COMPARED)
    outcome = check_suite(check_totals(pin_nowhere(tmp_path), frame, totals))
    assert bool(outcome.failed) != agree


def test_every_rule_of_every_contract_is_expected_of_some_frame() -> None:
    for contract in CONTRACTS.values():
        named = {name for rules in list_expectations(contract).values() for name in rules}
        assert named == {rule.name for rule in order_checks(contract)}
