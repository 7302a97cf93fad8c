import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.errors import UserError
from infra.settings import locate_root
from ops.bench import document, run
from ops.bench.document import DOCUMENTS, fill, read_parts, read_report, render_aim
from ops.bench.figures import (
    Figure,
    Outcome,
    Yardstick,
    aim_at_least,
    aim_at_most,
    describe_machine,
    write_outcomes,
)

TEXT = "Before.\n\n<!-- {mark} -->\nan old table\n<!-- end of figures -->\n\nAfter.\n"
FIGURES = TEXT.format(mark="figures: replay")
HEADLINES = TEXT.format(mark="headlines: replay, live")
BESIDE = Yardstick("a bare read", 250_000)
RATE = Figure("replay", 123_456.7, "records/s", aim_at_least(100_000), BESIDE, "Warm.")
RATIO = Figure("a batch", 1.26, "×", aim_at_most(1.2), note="Of twenty\nreceipts.")
START = Figure("a start", 20, "s", None, Yardstick("a bare one", 12, aim_at_most(200)))


def create_outcome(*figures: Figure) -> Outcome:
    return Outcome(describe_machine(), "full", figures)


def report(folder: Path, outcome: Outcome) -> dict[str, Outcome]:
    """What is read of the report that is written of it."""
    write_outcomes(folder / "report.json", {"replay": outcome})
    return read_report(folder / "report.json")


def test_a_table_shows_figure_verdict_yardstick_and_note(tmp_path: Path) -> None:
    filled = fill(Path("a.md"), FIGURES, report(tmp_path, create_outcome(RATE, RATIO)))
    assert filled.startswith("Before.\n\n<!-- figures: replay -->\n| what | measured | aim |")
    assert filled.endswith("\n<!-- end of figures -->\n\nAfter.\n")
    assert "old" not in filled
    beside = "a bare read: 250,000 records/s, of which it is 49.4 %"
    assert f"| replay | 123,457 records/s | ≥ 100,000 | met | {beside} |\n" in filled
    assert "| a batch | 1.26 × | ≤ 1.2 | missed |  |\n" in filled
    assert re.search(r"Measured on \d{4}-\d\d-\d\d: \d+ cores, ", filled)
    assert "- *replay*: Warm.\n- *a batch*: Of twenty receipts.\n" in filled


def test_headlines_are_one_table_in_their_own_order(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"replay": create_outcome(RATE, RATIO), "live": create_outcome(START)}
    monkeypatch.setattr(document, "HEADLINES", ("a start", "a batch"))
    filled = fill(Path("a.md"), HEADLINES, parts)
    assert re.findall(r"^\| ([a-z ]+) \|", filled, re.MULTILINE) == ["what", "a start", "a batch"]
    assert "twenty" not in filled
    beside = "a bare one: 12 s, of which it is 167 %; aim ≤ 200 %, met"
    assert f"| a start | 20 s |  |  | {beside} |\n" in filled
    monkeypatch.setattr(document, "HEADLINES", ("a start", "a stop"))
    with pytest.raises(UserError, match=r"lack \['a stop'\]"):
        fill(Path("a.md"), HEADLINES, parts)


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"failure": "It broke."}, "replay failed: It broke"), ({"scale": "quick"}, "was by --quick")],
)
def test_a_part_half_measured_is_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=rf"{why}\. Measure it again"):
        report(tmp_path, replace(create_outcome(RATE), **changed))


def test_a_table_of_a_part_that_was_not_measured_is_refused() -> None:
    for text in (FIGURES, HEADLINES):
        with pytest.raises(UserError, match=r"a\.md .* shows replay"):
            fill(Path("a.md"), text, {})


@pytest.mark.parametrize("file", DOCUMENTS, ids=str)
def test_the_tables_of_the_documents_are_those_of_the_figures(file: Path) -> None:
    text = (locate_root() / file).read_text()
    assert document.TABLE.search(text), "a document that is listed shows a table"
    assert fill(file, text, read_parts()) == text, "run python -m ops.bench.document"


@pytest.mark.parametrize("part", run.Part)
def test_every_part_is_a_module_that_measures(part: run.Part) -> None:
    assert callable(importlib.import_module(f"ops.bench.{part.value}").measure)
    assert read_parts().keys() <= set(run.Part)


def test_an_aim_is_met_at_its_bound() -> None:
    most, least = aim_at_most(250), aim_at_least(100)
    assert [render_aim(most, measured)[1] for measured in (250.0, 250.1)] == ["met", "missed"]
    assert [render_aim(least, measured)[1] for measured in (100.0, 99.9)] == ["met", "missed"]
