"""Damage to the lake's tables, as the API shows it after the next check."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from contracts import ADJUSTMENTS, DAILY_DEMAND, RECEIPTS, STOCK_LEVELS
from infra.checks import HISTORY, locate_quality
from infra.lake import Coverage, Folders
from infra.reports import locate_reports
from infra.settings import Settings
from pipelines.lake.quality import run, sums
from pipelines.lake.quality.run import check
from tests.services.api.routes.test_metrics import read_figure
from tests.services.lake import SmallLake, part, write
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.silver import create_schema
from tests.services.world import NOON
from tests.services.writing import Writing, all_on_time, promote

HOUR = timedelta(hours=1)
PRICE: dict[str, pa.DataType] = {
    "sku": pa.string(),
    "price_cents": pa.int32(),
    **dict.fromkeys(("holds_from", "holds_until"), pa.timestamp("us", "UTC")),
}
SILVER, GOLD, BRONZE = "silver/inventory.adjustment.v1", "gold/daily-facts", "bronze"


class Checking:
    """A small lake with two good shelves, checked once; and the API beside it."""

    def __init__(self, api: Answers, folders: Folders, home: Path) -> None:
        self.lake = SmallLake(folders)
        self.settings = Settings(data_dir=home, api_address=urlsplit(api.address).netloc)
        self._api = api
        self.lake.adjust("A", 5)
        self.lake.adjust("B", 7, minute=3)
        self.check()

    def check(self, *, whole: bool = False) -> dict[str, Any]:
        """The newest check of each table, after one batch and one more check."""
        self.lake.settle()
        check(self.settings, whole=whole)
        return self.read()

    def read(self) -> dict[str, Any]:
        return {table["table"]: table for table in self._api.json("/v1/checks")["tables"]}

    def read_history(self) -> list[dict[str, Any]]:
        file = locate_quality(locate_reports(self.settings)) / HISTORY
        return [json.loads(line) for line in file.read_text().splitlines()]

    def read_failures(self, table: str) -> float | None:
        return read_figure(self._api, "retail_check_failures", table=table)


@pytest.fixture
def checking(api: Answers, folders: Folders, tmp_path: Path) -> Checking:
    return Checking(api, folders, tmp_path)


def test_before_the_first_check_there_is_none(api: Answers) -> None:
    assert api.json("/v1/checks") == {"checked_at": None, "trouble": None, "tables": []}


def test_good_tables_have_no_failure(api: Answers, checking: Checking) -> None:
    tables = checking.read()
    assert {SILVER, GOLD, BRONZE} <= tables.keys()
    assert [table["failures"] + [table["trouble"]] for table in tables.values()] == [
        [None] for _ in tables
    ]
    assert tables[SILVER]["records"] == 2
    assert tables[SILVER]["expectations"] > 10
    assert api.json("/v1/checks")["checked_at"]
    assert checking.read_failures(SILVER) == 0


def test_a_row_that_breaks_a_rule_is_shown_until_it_is_mended(checking: Checking) -> None:
    offset = checking.lake.adjust("C", 1, minute=5, reason="nonsense")
    [failure] = checking.check()[SILVER]["failures"]
    assert failure["expectation"].startswith("reason is one of")
    assert failure["unexpected"] == 1
    assert [(row["_offset"], row["reason"]) for row in failure["rows"]] == [(offset, "nonsense")]
    assert checking.read_failures(SILVER) == 1
    checking.lake.adjust("D", 1, minute=6)
    assert checking.check()[SILVER]["failures"] == [failure]
    checking.lake.silver.remove(ADJUSTMENTS, offset)
    assert checking.check()[SILVER]["failures"] == []


def test_an_event_that_is_there_twice_is_found_by_its_second_copy(checking: Checking) -> None:
    checking.lake.adjust("B", 7, minute=3)
    [failure] = checking.check()[SILVER]["failures"]
    assert (failure["suite"], failure["rows"][0]["copies"]) == ("copies", 2)


def test_a_sum_that_is_off_is_shown_beside_the_right_one(checking: Checking) -> None:
    checking.lake.adjust("A", 1, minute=9)
    checking.lake.damage_sum("A", 3)
    [failure] = checking.check()[GOLD]["failures"]
    found = {(row["only in"], row["sku"], row["units_adjusted"]) for row in failure["rows"]}
    assert found == {("gold", "A", 9), ("silver", "A", 6)}
    checking.lake.damage_sum("A", -3)
    assert checking.check()[GOLD]["failures"] == []


def test_a_moment_that_no_calendar_has_is_checked_too(checking: Checking) -> None:
    far = {"event_time": 2**61, "_published": 2**61}
    checking.lake.silver.put(ADJUSTMENTS, event_id="far", reason="nonsense", **far)
    tables = checking.check()
    assert [tables[table]["trouble"] for table in (SILVER, GOLD)] == [None, None]
    [failure] = tables[SILVER]["failures"]
    assert failure["rows"][0]["event_time"] == str(2**61)


def test_a_price_holds_until_later_than_from(checking: Checking) -> None:
    folder = str(checking.lake.folders.gold("prices"))
    for version, (until, broken) in enumerate(((NOON + HOUR, 0), (NOON, 1), (None, 0))):
        price = {"sku": "A", "price_cents": 5, "holds_from": NOON, "holds_until": until}
        rows = pa.Table.from_pylist([price], schema=pa.schema(PRICE))
        write(folder, rows, Coverage(version, {part(RECEIPTS): version + 1}), mode="overwrite")
        assert len(checking.check()["gold/prices"]["failures"]) == broken


def test_a_table_that_is_written_whole_is_checked_by_its_contract(checking: Checking) -> None:
    shelf = STOCK_LEVELS.examples[0]
    folder, columns = (
        str(checking.lake.folders.gold("stock")),
        create_schema(STOCK_LEVELS),
    )
    for marker, (store, failures) in enumerate((("S001", 0), ("S/001", 1), ("S002", 0))):
        rows = pa.Table.from_pylist([{**shelf, "store_id": store}], schema=columns)
        write(str(folder), rows, Coverage(marker, {part(RECEIPTS): marker + 1}), mode="overwrite")
        found = checking.check()["gold/stock"]["failures"]
        assert [row["store_id"] for each in found for row in each["rows"]] == [store] * failures


def test_a_table_without_news_is_not_looked_at_again(checking: Checking) -> None:
    before, history = checking.read()[SILVER], checking.read_history()
    after = checking.check()[SILVER]
    assert {**after, "checked_at": None} == {**before, "checked_at": None}
    assert checking.read_history() == history
    checking.lake.adjust("A", 1, minute=9)
    checking.check()
    assert len(checking.read_history()) > len(history)


def test_of_many_new_rows_a_run_checks_the_first(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ROWS_MAX", 2)
    for minute in (11, 12, 13):
        checking.lake.adjust("C", 1, minute=minute, reason="count" if minute < 13 else "nonsense")
    first = checking.check()[SILVER]
    assert (first["records"], first["failures"]) == (2, [])
    second = checking.check()[SILVER]
    assert (second["records"], len(second["failures"])) == (1, 1)
    # It stands without being looked at while the rows since then are too many.
    for minute in (14, 15):
        checking.lake.adjust("C", 1, minute=minute)
        assert checking.check()[SILVER]["failures"] == second["failures"]
    assert checking.check(whole=True)[SILVER]["records"] == 7


def test_a_check_that_raises_is_shown_and_the_others_go_on(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_error(*_: object) -> None:
        raise ArithmeticError("nothing adds up")

    monkeypatch.setattr(sums, "find_wrong_sums", raise_error)
    checking.lake.adjust("A", 1, minute=9)
    tables = checking.check()
    assert tables[GOLD]["trouble"] == "ArithmeticError: nothing adds up"
    assert tables[SILVER]["trouble"] is None
    assert tables[SILVER]["records"] == 1
    assert {"trouble": tables[GOLD]["trouble"]}.items() <= checking.read_history()[-1].items()
    monkeypatch.undo()
    assert checking.check()[GOLD]["trouble"] is None


def test_a_lake_made_anew_is_checked_from_its_beginning(
    checking: Checking, folders: Folders
) -> None:
    folders.root.remove()
    checking.lake = SmallLake(folders)
    checking.lake.adjust("A", 5)
    assert checking.check()[SILVER]["records"] == 1


@pytest.mark.parametrize(("served", "failures"), [(5, 0), (6, 1)])
def test_days_of_the_served_view_are_held_against_silver(
    log: MemoryLog, api: Answers, checking: Checking, served: int, failures: int
) -> None:
    """The view has counted one receipt of two."""
    for number in range(2):
        lines = [{"sku": "A", "units": 5, "unit_price_cents": 100}]
        checking.lake.silver.put(RECEIPTS, event_id=str(number), event_time=NOON, lines=lines)
    analytics = Writing(log, pipeline="analytics", views=(DAILY_DEMAND,))
    analytics.put(DAILY_DEMAND, **all_on_time(units_sold=served, units_refunded=0))
    analytics.read[part(RECEIPTS)] = 1
    analytics.mark()
    promote(log, analytics)
    api.ready(pipeline="analytics")
    view = checking.check()["served/daily-demand"]
    assert (view["version"], view["records"], view["trouble"]) == (0, 1, None)
    found = [row["units_sold"] for each in view["failures"] for row in each["rows"]]
    assert found == [5] * failures
    # The next comparison is due later.
    assert checking.check()["served/daily-demand"] == view


def test_a_view_that_is_not_served_is_not_compared(checking: Checking) -> None:
    _, why_not = check(checking.settings)
    assert "should answer with the view" in why_not
    assert "served/daily-demand" not in checking.read()
