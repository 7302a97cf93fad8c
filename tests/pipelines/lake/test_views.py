"""The tables of views, as the changelogs of a broker make them: each version is a marker."""

from datetime import timedelta

import pytest

from contracts import ALERTS, STOCK_LEVELS
from infra.lake import find_newest_version, locate_folders
from infra.settings import Settings
from ops.generations.record import get_wall_now
from ops.verify.lake import TableCheck, check_tables
from pipelines.lake import states
from pipelines.lake.views import ViewCoverage, locate_view, refresh_views
from tests.services.broker import KafkaLog
from tests.services.writing import MORNING, Writing, promote

pytestmark = [pytest.mark.e2e]


@pytest.fixture
def log(kafka: Settings) -> KafkaLog:
    return KafkaLog(kafka)


@pytest.fixture
def shop(kafka: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The broker, with a lake of the test's own."""
    return kafka.model_copy(update={"data_dir": tmp_path_factory.mktemp("shop")})


@pytest.fixture(autouse=True)
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "ROWS_PER_SECOND_MAX", 10**9)


@pytest.fixture
def first(log: KafkaLog) -> Writing:
    """Generation 1 of inventory, promoted: 4 of A and 7 of B in store 1 at marker 0."""
    writing = Writing(log)
    writing.row(1, "A", 4)
    writing.row(1, "B", 7)
    writing.mark(adjusted=2)
    follow(log, writing)
    return writing


def follow(log: KafkaLog, promoted: Writing, *others: Writing) -> None:
    """Let readers follow a generation; the log knows it on return."""
    promote(log, promoted, *others)
    log.flush()


def read_units(shop: Settings, version: int | None = None) -> dict[str, int]:
    """The units on hand of each sku."""
    rows = locate_view(locate_folders(shop), STOCK_LEVELS).read(version)
    return {row["sku"]: row["units_on_hand"] for row in rows}


def read_view_coverage(shop: Settings, version: int | None = None) -> ViewCoverage:
    return ViewCoverage.read(locate_folders(shop).gold("stock"), version)


def refresh(shop: Settings) -> int:
    """Refresh the tables; returns the newest version of the stock."""
    refresh_views(shop, locate_folders(shop))
    return find_newest_version(locate_folders(shop).gold("stock"))


def test_each_version_is_a_marker(shop: Settings, first: Writing) -> None:
    refresh(shop)
    first.row(1, "A", 3, version=2)
    first.row(2, "C", 9)
    first.mark(sold=1)
    first.row(1, "B", 0, version=2)  # no marker says yet what it belongs to
    refresh(shop)
    assert read_units(shop) == {"A": 3, "B": 7, "C": 9}
    assert read_units(shop, version=0) == {"A": 4, "B": 7}
    before, after = read_view_coverage(shop, version=0), read_view_coverage(shop)
    assert (before.marker, after.marker) == (0, 1)
    assert sum(before.ends.values()) == 2
    assert sum(after.ends.values()) == 3


def test_a_marker_that_changed_no_row_makes_no_version(shop: Settings, first: Writing) -> None:
    assert refresh(shop) == 0
    first.mark(sold=1)
    assert refresh(shop) == 0


def test_a_promotion_and_a_rollback_make_the_table_anew_in_one_commit(
    shop: Settings, log: KafkaLog, first: Writing
) -> None:
    refresh(shop)
    second = Writing(log, generation=2)
    second.row(1, "B", 70)
    second.mark(adjusted=1)
    follow(log, second, first)
    assert refresh(shop) == 1
    assert (read_units(shop), read_view_coverage(shop).generation) == ({"B": 70}, 2)
    first.row(1, "A", 5, version=2)
    first.mark(adjusted=1)
    follow(log, first, second)
    assert refresh(shop) == 2
    assert (read_units(shop), read_view_coverage(shop).generation) == ({"A": 5, "B": 7}, 1)


def test_without_a_promoted_generation_there_is_no_table(shop: Settings, log: KafkaLog) -> None:
    writing = Writing(log, generation=9, pipeline="fraud", views=(ALERTS,))
    refresh(shop)
    follow(log, writing)
    refresh(shop)  # nor without a marker
    assert find_newest_version(locate_folders(shop).gold("alerts")) == -1


def test_a_changelog_that_is_gone_stops_no_other_table(
    shop: Settings, log: KafkaLog, first: Writing
) -> None:
    fraud = Writing(log, generation=8, pipeline="fraud", views=(ALERTS,))
    fraud.put(ALERTS)
    fraud.mark()
    follow(log, fraud)
    log.remove(fraud.topic)
    assert refresh(shop) == 0
    assert find_newest_version(locate_folders(shop).gold("alerts")) == -1


def test_alerts_go_when_their_retention_is_over(shop: Settings, log: KafkaLog) -> None:
    assert ALERTS.retention is not None
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    last = MORNING - ALERTS.retention
    fraud.put(ALERTS, subject="over", interval_start=last - timedelta(milliseconds=1))
    fraud.put(ALERTS, subject="last", interval_start=last)
    fraud.mark()
    follow(log, fraud)
    refresh(shop)
    assert read_subjects(shop) == {"over", "last"}
    fraud.put(ALERTS, subject="new", interval_start=MORNING)
    fraud.mark()
    refresh(shop)
    assert read_subjects(shop) == {"last", "new"}
    [check] = check_tables(shop, "fraud")
    assert check.agrees
    assert check.comparison is not None


def read_subjects(shop: Settings) -> set[str]:
    return {row["subject"] for row in locate_view(locate_folders(shop), ALERTS).read()}


def check_stock(shop: Settings) -> TableCheck:
    [check] = check_tables(shop, "inventory")
    return check


def test_a_table_is_compared_at_its_own_marker(shop: Settings, first: Writing) -> None:
    refresh(shop)
    first.row(1, "A", 3, version=2)
    first.mark()
    check = check_stock(shop)
    assert (check.name, check.marker) == ("gold.stock", 0)
    assert check.comparison is not None
    assert check.comparison.live_digest == check.comparison.oracle_digest
    assert check.describe_deviation() is None


@pytest.mark.parametrize("sku", ["A", "Z"])
def test_a_row_that_differs_is_named(shop: Settings, first: Writing, sku: str) -> None:
    """Another's commit changes one, or adds one; it leaves the note as it was."""
    refresh(shop)
    table = locate_view(locate_folders(shop), STOCK_LEVELS)
    rows = {row["sku"]: row for row in table.read()}
    rows[sku] = {**rows["A"], "sku": sku, "units_on_hand": 99}
    table.write(rows.values(), read_view_coverage(shop))
    check = check_stock(shop)
    assert not check.agrees
    assert f"S001/{sku}" in (check.describe_deviation() or "")


def test_a_changelog_that_went_on_for_long_is_not_compared(
    shop: Settings, first: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh(shop)
    later = get_wall_now() + timedelta(hours=1)
    monkeypatch.setattr("ops.verify.lake.get_wall_now", lambda: later)
    assert check_stock(shop).comparison is not None  # it has not gone on
    first.row(1, "A", 3, version=2)
    first.mark()
    check = check_stock(shop)
    assert check.comparison is None
    assert "gold.stock not compared" in (check.describe_deviation() or "")
