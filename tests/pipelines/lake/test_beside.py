"""The process of the checks: when it starts, and what is noted where it fails."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.checks import Checked, locate_quality, read_checked
from infra.lake import locate_folders
from infra.processes import list_descendants
from infra.reports import locate_reports
from infra.settings import Settings
from infra.wait import wait_until
from pipelines.lake.quality import beside
from pipelines.lake.quality.beside import Checker
from tests.services.lake import SmallLake

WAITS = "import sys; sys.stdin.read()"


class Beside:
    """A lake, and a checker whose checks are a program of Python that counts its runs."""

    def __init__(self, home: Path) -> None:
        self.settings = Settings(data_dir=home, store_url=None)
        self.runs = home / "runs"
        self.started: list[Checker] = []

    def start(self, program: str = "", command: tuple[str, ...] = ()) -> Checker:
        counts = f"open({str(self.runs)!r}, 'a').write('.'); {program}"
        self.started.append(Checker(self.settings, command or (sys.executable, "-c", counts)))
        return self.started[-1]

    def fill(self) -> None:
        lake = SmallLake(locate_folders(self.settings))
        lake.adjust("A", 5)
        lake.settle()

    def count_runs(self) -> int:
        return len(self.runs.read_text()) if self.runs.exists() else 0

    def read(self) -> Checked:
        return read_checked(locate_quality(locate_reports(self.settings)))

    def await_trouble(self, checker: Checker, *words: str) -> None:
        def is_noted() -> bool:
            checker.look()
            return all(word in self.read().trouble for word in words) and bool(self.read().trouble)

        wait_until(is_noted, f"the trouble is noted, found {self.read()}")


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Beside]:
    lake = Beside(tmp_path)
    yield lake
    for checker in lake.started:
        checker.stop()


def test_the_first_check_begins_with_the_first_rows_and_the_next_minutes_later(
    lake: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker = lake.start()
    checker.look()
    assert lake.count_runs() == 0
    lake.fill()
    checker.look()
    wait_until(lambda: lake.count_runs() == 1, "a check runs")
    for _ in range(3):
        checker.look()
    monkeypatch.setattr(beside, "EVERY_SECONDS", 0.0)

    def is_repeated() -> bool:
        checker.look()
        return lake.count_runs() >= 2

    wait_until(is_repeated, "it runs again")
    assert not lake.read().trouble


def test_one_runs_at_a_time_and_ends_with_the_lake(
    lake: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "EVERY_SECONDS", 0.0)
    lake.fill()
    before = set(list_descendants(os.getpid()))
    checker = lake.start(WAITS)
    for _ in range(3):
        checker.look()
    assert len(set(list_descendants(os.getpid())) - before) == 1
    wait_until(lambda: lake.count_runs() == 1, "a check runs")
    checker.stop()
    assert set(list_descendants(os.getpid())) <= before
    assert not lake.read().trouble


def test_checks_that_end_in_an_error_are_noted(lake: Beside) -> None:
    lake.fill()
    lake.await_trouble(lake.start("raise SystemExit(3)"), "code 3", "make logs COMPONENT=lake")


def test_checks_that_cannot_start_are_noted(lake: Beside) -> None:
    lake.fill()
    lake.await_trouble(lake.start(command=("no such program",)), "no such program")


def test_checks_that_take_too_long_are_ended_and_noted(
    lake: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "SECONDS_MAX", 0.0)
    lake.fill()
    lake.await_trouble(lake.start(WAITS), "longer than 0 s")


def test_the_command_checks_the_lake(lake: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", str(lake.settings.data_dir))
    monkeypatch.setenv("API_ADDRESS", "127.0.0.1:9")  # where nobody answers
    lake.fill()
    checker = lake.start(command=beside.COMMAND)
    checker.look()
    wait_until(lambda: bool(lake.read().tables), "the tables are checked", seconds_max=60)
    assert {"bronze", "gold/daily-facts"} <= lake.read().tables.keys()
    assert not any(table.failures for table in lake.read().tables.values())
