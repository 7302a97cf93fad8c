"""The contracts' rules and the expectations name the same bad rows; records and sums add up."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from contracts import CONTRACTS, DAILY_DEMAND, PRICE_CHANGES, RECEIPTS, REFUNDS, Contract
from contracts.checks import order_checks
from infra.checks import Outcome
from infra.folder import Folder
from infra.kafka import Offsets, create_admin, read_high_watermarks
from infra.lake import Coverage, Folders
from infra.settings import Settings
from pipelines.lake.quality import docs, served
from pipelines.lake.quality.checks import PLACE, Frame, count_committed, measure_records
from pipelines.lake.quality.docs import RESULTS, RUNS_KEPT, VALIDATIONS, Docs
from pipelines.lake.quality.expectations import build_frames, list_expectations
from pipelines.lake.quality.reading import pin
from pipelines.lake.quality.served import Served
from pipelines.lake.tables import EVENTS
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import draw_records, typed
from tests.services.lake import SmallLake, part
from tests.services.silver import create_schema
from tests.services.world import NOON
from tests.transactions import write_transaction

RECORDS = 60
DAY = timedelta(days=1)
PART = part(RECEIPTS)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(Folder(str(tmp_path / "lake")))


@pytest.fixture
def pages(tmp_path: Path) -> Docs:
    return Docs(tmp_path / "quality")


@pytest.mark.parametrize("topic", EVENTS, ids=lambda topic: topic.entity)
def test_they_agree(pages: Docs, monkeypatch: pytest.MonkeyPatch, topic: Contract) -> None:
    monkeypatch.setattr(docs, "EVIDENCE_ROWS_MAX", 10_000)
    monkeypatch.setitem(docs.FORMAT, "partial_unexpected_count", 10_000)
    events = draw_events(topic)
    by_rule: dict[str, set[int]] = {rule.name: set() for rule in order_checks(topic)}
    for number, event in enumerate(events):
        for name in find_broken_rules(topic, event):
            by_rule[name].add(number)
    outcomes = {each.expectation: each for each in expect(pages, topic, events)}
    found = {
        name: {int(row["_offset"]) for row in outcomes[name].rows} if name in outcomes else set()
        for name in by_rule
    }
    assert found == by_rule
    assert any(by_rule.values())


def draw_events(topic: Contract) -> list[dict[str, Any]]:
    """Events that keep and break rules, but none that Avro could not write."""
    candidates = [
        *topic.examples,
        *(example.value for example in topic.invalid_examples),
        *draw_records(typed(topic), RECORDS),
    ]
    asked = {rule.name for rule in order_checks(topic)}
    return [dict(each) for each in candidates if find_broken_rules(topic, each) <= asked]


def expect(pages: Docs, topic: Contract, events: list[dict[str, Any]]) -> Iterator[Outcome]:
    rows = [{**event, "_partition": 0, "_offset": number} for number, event in enumerate(events)]
    frames = build_frames(topic, pa.Table.from_pylist(rows, create_schema(topic)), *PLACE)
    for name, rules in list_expectations(topic).items():
        frame = Frame(name, frames[name], tuple(rules.values()))
        yield from pages.validate(topic.entity, frame, 0)


def test_every_rule_of_every_contract_is_expected_of_some_frame() -> None:
    for contract in CONTRACTS.values():
        named = {name for rules in list_expectations(contract).values() for name in rules}
        assert named == {rule.name for rule in order_checks(contract)}


@pytest.mark.parametrize(
    ("starts", "offsets", "broken"),
    [
        ({}, (0, 1, 2), 0),
        ({}, (0, 2), 1),  # one is missing
        ({}, (0, 1), 1),  # the last one is
        ({}, (0, 1, 1, 2), 1),  # one is there twice
        ({}, (0, 1, 2, 3), 1),  # one is there already
        ({PART: 1}, (1, 2), 0),  # the one before was counted before
        ({PART: 1}, (0, 2), 1),
    ],
)
def test_records_are_counted_against_offsets(
    folders: Folders, pages: Docs, starts: Offsets, offsets: tuple[int, ...], broken: int
) -> None:
    lake = SmallLake(folders)
    records = [{"topic": PART[0], "partition": PART[1], "offset": offset} for offset in offsets]
    lake.write_bronze(records, Coverage(1, {PART: 3}))
    table = pin(folders.bronze)
    [frame] = measure_records(count_all, folders, table, starts, table.ends)
    outcomes = pages.validate("bronze", frame, 0)
    assert sum(not outcome.success for outcome in outcomes) == broken
    assert [row["partition"] for each in outcomes for row in each.rows] == [PART[1]] * broken


def test_transactions_are_gaps_of_the_log_itself(kafka: Settings) -> None:
    partition = PRICE_CHANGES.name, 0
    write_transaction(kafka, partition, [b"kept", b"kept"], commits=True)
    write_transaction(kafka, partition, [b"taken back"], commits=False)
    end = read_high_watermarks(create_admin(kafka), [PRICE_CHANGES.name])[partition]
    assert (count_committed(kafka, {}, {partition: end}), end) == ({partition: 2}, 5)


def count_all(starts: Offsets, ends: Offsets) -> Offsets:
    """The log has a record at every offset."""
    return {partition: end - starts.get(partition, 0) for partition, end in ends.items()}


def test_an_offset_without_a_record_in_the_log_needs_none(folders: Folders) -> None:
    lake = SmallLake(folders)
    records = [{"topic": PART[0], "partition": PART[1], "offset": offset} for offset in (0, 2)]
    lake.write_bronze(records, Coverage(1, {PART: 4}))
    table = pin(folders.bronze)
    [frame] = measure_records(lambda *_: {PART: 2}, folders, table, {}, table.ends)
    [row] = frame.rows.to_pylist()
    assert (row["gaps"], row["gaps_max"]) == (2, 2)


@pytest.mark.parametrize(("served_units", "agree"), [(5, True), (4, False)])
def test_days_of_the_view_are_the_sums_of_silver(
    folders: Folders, pages: Docs, served_units: int, agree: bool
) -> None:
    """The view has counted two receipts of the three, and forgotten the day before."""
    silver = SmallLake(folders).silver
    for number, (time, lines) in enumerate(
        [(NOON - DAY, (("A", 1),)), (NOON, (("A", 2), ("B", 3))), (NOON, (("A", 100),))]
    ):
        silver.put(RECEIPTS, event_id=str(number), event_time=time, lines=price(lines))
    silver.put(REFUNDS, event_time=NOON, lines=price((("B", 1),)))
    rows = [{**create_day(NOON), "units_sold": served_units, "units_refunded": 1}]
    table = pa.Table.from_pylist(rows)
    days = Served(DAILY_DEMAND, 7, {PART: 2, part(REFUNDS): 1}, table)
    totals = list(served.measure(folders, days, None))[-1]
    outcomes = pages.validate("served", totals, 0)
    assert all(outcome.success for outcome in outcomes) == agree
    assert [row["units_sold"] for each in outcomes for row in each.rows] == [5] * (not agree)


def price(lines: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
    return [{"sku": sku, "units": units, "unit_price_cents": 100} for sku, units in lines]


def create_day(moment: datetime) -> dict[str, Any]:
    begin = datetime.combine(moment.date(), datetime.min.time(), moment.tzinfo)
    counts = dict.fromkeys(("units_sold_on_time", "units_refunded_on_time", "late_events"), 0)
    times = {"day_start": begin, "day_end": begin + DAY, "last_late_event_time": None}
    return {"store_id": "S001", "sku": "A", "version": 1, **counts, **times}


def test_the_pages_keep_the_newest_runs(folders: Folders, pages: Docs, tmp_path: Path) -> None:
    rows = pa.table({"units": [1]})
    for minute in range(RUNS_KEPT + 2):
        pages.validate("gold", Frame("sums", rows, ()), minute * 60_000)
    pages.publish()
    for folder in (RESULTS, VALIDATIONS):
        runs = [each.parent.name for each in (tmp_path / "quality" / folder).rglob("lake-*")]
        assert len(runs) == RUNS_KEPT
        assert min(runs) > "19700101T0001"
    pages.validate("gold", Frame("sums", rows, ()), (RUNS_KEPT + 2) * 60_000)
    pages.publish()
    assert len(list((tmp_path / "quality" / VALIDATIONS).rglob("lake-*.html"))) == RUNS_KEPT
