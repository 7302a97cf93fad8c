"""What oracles read; and a verdict that cannot be bad proves nothing: each answer may disagree."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import STOCK_LEVELS, Contract
from infra.errors import UserError
from infra.kafka import Record
from infra.settings import Settings, locate_root
from ops.verify.comparison import compare_view, select_kept
from ops.verify.inventory import Book, Row
from ops.verify.lake import TableCheck
from ops.verify.ledger import Audit, Difference, Units
from ops.verify.log import number_records
from ops.verify.oracles import ORACLES, ask_oracle
from ops.verify.served import Served
from ops.verify.tables import load_limits
from ops.verify.verdict import Listing, Verdict
from pipelines.common.pipeline import list_pipelines, load
from pipelines.fraud.thresholds import Thresholds
from pipelines.reorder.policy import Policy

AT = ("public.sales.receipt.v1", 0)
BOOK = Book(read=12, applied=9, duplicate=2, quarantined=1)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SHELF: Row = {**STOCK_LEVELS.examples[0], "store_id": "S001", "sku": "A"}
OTHER: Row = {**SHELF, "sku": "B"}
VIEWS = [view for name in list_pipelines() for view in load(name).writes]
WITH_AN_END = [view for view in VIEWS if view.retention is not None]
SEEN = {"repeated": (2, 2)}
AUDIT = Audit(pages=1, shelves=1, dirt={}, simulated=12, quarantined=0, differences=[], seen=SEEN)
LISTING = Listing(rejected=1, listed=1, differences=[], behind=0)


def verdict(live: list[Row], oracle: list[Row], view: Contract = STOCK_LEVELS) -> Verdict:
    served = Served("inventory", 1, 7, {AT: 12}, {AT: BOOK}, {view.name: live})
    compared = compare_view(view, live, oracle)
    return Verdict(live=served, views=(compared,), books={AT: BOOK}, listing=LISTING, audit=AUDIT)


def example(view: Contract) -> Row:
    return {field.name: view.examples[0].get(field.name) for field in view.fields}


def test_every_pipeline_has_an_oracle() -> None:
    assert ORACLES.keys() == set(list_pipelines())


def test_what_has_no_oracle_is_told_which_do() -> None:
    with pytest.raises(UserError, match=r"'coffee'\. Known: .*inventory"):
        ask_oracle("coffee", Settings(), {})


def test_answers_that_agree_are_exact() -> None:
    assert verdict([SHELF, OTHER], [OTHER, SHELF]).exact


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.entity)
def test_one_field_of_one_row_is_enough_to_differ(view: Contract) -> None:
    row = example(view)
    assert verdict([row], [row], view).exact
    for field in view.fields:
        changed = {"timestamp": NOON, "string": "changed", "array": []}.get(field.type, -1)
        assert not verdict([row], [{**row, field.name: changed}], view).exact


def test_rows_that_differ_are_listed_with_both_answers() -> None:
    fewer = {**SHELF, "units_sold": 1}
    outcome = verdict([fewer], [SHELF])
    assert outcome.views[0].differing == [(fewer, SHELF)]
    assert list(outcome.list_deviations()) == ["1 rows of stock-level differ: S001/A"]
    lacking = verdict([SHELF], [SHELF, OTHER])
    assert lacking.views[0].differing == [(None, OTHER)]
    assert not lacking.exact
    many = [{**SHELF, "sku": f"B{number}"} for number in range(7)]
    [line] = verdict(many, []).list_deviations()
    named = "S001/B0, S001/B1, S001/B2, S001/B3, S001/B4 and 2 more"
    assert line == f"7 rows of stock-level differ: {named}"


@pytest.mark.parametrize("view", WITH_AN_END, ids=lambda view: view.entity)
def test_what_began_too_long_before_the_newest_row_is_not_asked_for(view: Contract) -> None:
    assert view.began is not None
    assert view.retention is not None
    row = example(view)
    last = {**row, view.began: row[view.began] - view.retention}
    over = {**row, view.began: last[view.began] - timedelta(milliseconds=1)}
    assert select_kept(view, [over, last, row]) == [last, row]
    assert verdict([last, row], [over, last, row], view).exact
    assert not verdict([over, last, row], [over, last, row], view).exact


def test_a_table_that_is_not_the_view_is_not_exact() -> None:
    good = verdict([SHELF], [SHELF])
    for rows, exact in (([SHELF], True), ([], False)):
        compared = compare_view(STOCK_LEVELS, rows, [SHELF])
        outcome = replace(good, tables=(TableCheck("gold.stock", 3, 7, compared),))
        assert outcome.exact == exact
    assert list(outcome.list_deviations()) == ["1 rows of gold.stock differ: S001/A"]


def test_a_table_that_cannot_be_compared_is_named() -> None:
    outcome = replace(verdict([], []), tables=(TableCheck("gold.stock", 3, 7, None),))
    assert outcome.exact
    [line] = outcome.list_deviations()
    assert line.startswith("gold.stock not compared")


OFF = Difference(("S001", "A"), ledger=Units(3, 0), log=Units(2, 0))


UNPAGED = replace(AUDIT, pages=0, shelves=0)


@pytest.mark.parametrize(
    ("changed", "agree", "exact"),
    [
        ({"books": {AT: replace(BOOK, applied=8, duplicate=3)}}, False, False),
        ({"audit": replace(AUDIT, differences=[OFF])}, False, False),
        ({"audit": replace(AUDIT, seen={"repeated": (3, 2)})}, False, False),
        ({"audit": UNPAGED}, True, False),
        ({"audit": replace(UNPAGED, simulated=0)}, True, True),
        ({"audit": None}, True, True),
        ({"listing": Listing(2, 1, differences=["one is not listed"], behind=0)}, False, False),
        ({"listing": Listing(2, 1, differences=[], behind=0)}, False, False),
        ({"listing": Listing(2, 1, differences=[], behind=7)}, True, False),
        ({"listing": Listing(1, 1, differences=["one should not be"], behind=7)}, False, False),
    ],
)
def test_whatever_disagrees_is_not_exact(changed: dict[str, Any], agree: bool, exact: bool) -> None:
    """Before the ledger's first page nothing is, unless there is nothing that it tells of."""
    outcome = replace(verdict([SHELF], [SHELF]), **changed)
    assert (outcome.agree, outcome.exact) == (agree, exact)


def copy_with(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the code in which the text of one file is another."""
    text = (locate_root() / file).read_text()
    assert old in text
    copy = folder / file
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(old, new))
    return folder


def test_thresholds_and_policy_are_those_of_the_copy(tmp_path: Path) -> None:
    hours = Policy().late_hours
    old, new = (f"late_hours: int = {each}" for each in (hours, hours + 1))
    copy_with(tmp_path, "pipelines/reorder/policy.py", old, new)
    assert load_limits(tmp_path, "reorder", "Policy").late_hours == hours + 1
    assert load_limits(locate_root(), "reorder", "Policy").late_hours == hours
    number = Thresholds().card_sales_per_window_max
    old, new = (f"card_sales_per_window_max: int = {each}" for each in (number, number + 3))
    copy_with(tmp_path, "pipelines/fraud/thresholds.py", old, new)
    assert load_limits(tmp_path, "fraud").card_sales_per_window_max == number + 3
    assert load_limits(locate_root(), "fraud").card_sales_per_window_max == number


def record(offset: int, number: int | None, partition: int = 0) -> Record:
    headers = [] if number is None else [("sequence", number.to_bytes(8, "big"))]
    return Record("public.sales.receipt.v1", partition, offset, 0, b"S001", b"", headers)


def test_a_batch_that_kafka_took_twice_is_of_the_simulator_once() -> None:
    log = [record(offset, number) for offset, number in enumerate([0, 1, 2, 1, 2, 3])]
    assert [number for _, number in number_records(log)] == [0, 1, 2, None, None, 3]


def test_each_partition_has_numbers_of_its_own_and_others_have_none() -> None:
    log = [record(0, 0), record(0, 0, partition=1), record(1, None), record(2, 1)]
    assert [number for _, number in number_records(log)] == [0, 0, None, 1]
