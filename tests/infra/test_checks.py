"""Results of checks: kept up to a bound, and never half."""

import json
from pathlib import Path

import pytest

from infra import checks
from infra.checks import (
    HISTORY,
    NEWEST,
    Checked,
    Outcome,
    Result,
    read_checked,
    write_checked,
    write_trouble,
)

BROKEN = Outcome("events", "units is at least 0", False, 2, ({"units": -1}, {"units": -3}))
GOLD = Result("gold", 7, 1_000, 12, (BROKEN, Outcome("events", "sku is given", True)))


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert read_checked(tmp_path) == Checked()
    document = json.loads(json.dumps({"units": -1}))
    checked = Checked(5, "", {"gold": GOLD})
    write_checked(tmp_path, checked, [GOLD])
    found = read_checked(tmp_path)
    assert found.ran_ms == 5
    assert found.tables["gold"].failures[0].rows[0] == document
    assert [each.expectation for each in found.tables["gold"].failures] == [BROKEN.expectation]


def test_the_history_is_bounded_and_keeps_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "HISTORY_LINES_MAX", 4)
    for version in range(3):
        result = Result("gold", version, 1_000, 12, GOLD.outcomes)
        write_checked(tmp_path, Checked(version, "", {"gold": result}), [result])
    lines = [json.loads(line) for line in (tmp_path / HISTORY).read_text().splitlines()]
    assert [line["version"] for line in lines] == [1, 1, 2, 2]
    assert lines[-2] == {
        "checked_ms": 1_000,
        "table": "gold",
        "version": 2,
        "suite": "events",
        "expectation": BROKEN.expectation,
        "success": False,
        "unexpected": 2,
        "rows": [{"units": -1}, {"units": -3}],
    }


def test_checks_that_could_not_run_leave_the_results(tmp_path: Path) -> None:
    write_checked(tmp_path, Checked(5, "", {"gold": GOLD}), [GOLD])
    write_trouble(tmp_path, "no memory", 6)
    found = read_checked(tmp_path)
    assert (found.ran_ms, found.trouble, found.tables["gold"].version) == (6, "no memory", 7)


@pytest.mark.parametrize("text", ["", "[]", '{"ran_ms": 1, "trouble": "", "tables": [{"a": 1}]}'])
def test_results_of_another_form_are_said_to_be(tmp_path: Path, text: str) -> None:
    (tmp_path / NEWEST).write_text(text)
    found = read_checked(tmp_path)
    assert "cannot be read" in found.trouble
    assert not found.tables
