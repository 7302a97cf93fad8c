"""A difference on the terminal says what moved, and is as narrow as one."""

import json
import re
import shutil
from pathlib import Path

import pytest

from contracts import ALERTS
from infra.settings import locate_root
from ops.cli.replay_difference import FIELDS_SHOWN, INDENT, WIDTH, render_document, show_difference
from ops.replay.compare import Changes, Compared, Setting, find_changes
from ops.replay.difference import Difference
from ops.replay.thresholds import edit
from tests.answers import FENCED
from tests.ops.cli.differences import MOVED, SHOWN, STORES

GUIDE = locate_root() / "pipelines" / "REPLAY.md"


@pytest.fixture
def card_difference(tmp_path: Path) -> Compared:
    """What the guide compares. The edit is the one that the guide makes."""
    codes = tmp_path / "before", tmp_path / "after"
    for code in codes:
        shutil.copytree(locate_root() / "pipelines" / "fraud", code / "pipelines" / "fraud")
    for file, text in edit(locate_root(), "fraud", ["card_sales_per_window_max=3"]).items():
        (codes[1] / file).write_text(text)
    changes = find_changes(*codes, "fraud")
    generations = "generation 1", "generation 2"
    return Compared("fraud", *generations, "marker 37", 153_391, (SHOWN,), changes)


def test_the_guide_shows_a_difference_as_the_command_prints_it(
    card_difference: Compared, capsys: pytest.CaptureFixture[str]
) -> None:
    show_difference(card_difference, None)
    head, _, rest = capsys.readouterr().out.partition("\n")
    blocks = [block for _, block in FENCED.findall(GUIDE.read_text())]
    assert any(f"\n{head}\n" in block for block in blocks)
    [written] = [block for block in blocks if block.lstrip().startswith("fraud at marker")]
    assert rest == written


def test_a_program_gets_the_words_of_the_terminal(
    card_difference: Compared, capsys: pytest.CaptureFixture[str]
) -> None:
    show_difference(card_difference, None)
    printed = join_words(capsys.readouterr().out)
    [view] = json.loads(json.dumps(render_document(card_difference), default=str))["views"]
    assert [one["kind"] for one in view["largest"]] == ["changed", "changed", "new", "new"]
    for one in view["largest"]:
        words = " ".join(one["words"][:FIELDS_SHOWN])
        assert f"{one['kind']} {one['name']} {words}" in printed


def join_words(text: str) -> str:
    return re.sub(r"[\s·]+", " ", text)


def render_difference(view: Difference, capsys: pytest.CaptureFixture[str]) -> str:
    show_difference(Compared("fraud", "generation 1", "generation 2", "marker 7", 9, (view,)), None)
    return capsys.readouterr().out


def test_what_moved_is_told_within_the_width_of_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = render_difference(MOVED, capsys)
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "1,312 → 1,355 rows · +43 −0 · changed 61" in printed
    assert "card-velocity 61 → 104" in printed
    assert "sweethearting" not in printed, "as many as before"
    assert "events" not in printed, "as many as before"
    assert all(f"{store} 1,000 → 1,100" in printed for store in STORES), "and none is broken"
    assert printed.count("    new         card-velocity/tok_0123456789ab/") == 2
    assert f"{' ' * INDENT}status open · store_id S003 · measured 4 · threshold 3\n" in printed
    assert printed.count(f"{' ' * INDENT}threshold 5 → 3\n") == 2


def test_what_differs_in_the_code_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    files = tuple(f"pipelines/fraud/module_{at}.py" for at in range(7))
    changes = Changes((Setting("card_sales_per_window_max", 5, 3),), files)
    generations = "generation 1", "generation 2"
    show_difference(Compared("fraud", *generations, "marker 7", 9, (MOVED,), changes), None)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert (
        "    code        card_sales_per_window_max 5 → 3 · pipelines/fraud/module_0.py" in printed
    )
    assert "and 2 more files" in printed


def test_no_difference_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    printed = render_difference(Difference(ALERTS.name, 1_312, 1_312, 0, 0, 0, (), (), ()), capsys)
    assert printed.splitlines() == [
        "  difference    none: generation 1 = generation 2",
        "                fraud at marker 7 · 9 records · 1,312 rows",
    ]
