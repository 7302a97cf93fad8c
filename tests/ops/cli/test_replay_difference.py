"""A difference on the terminal says what moved, and is as narrow as one."""

import json
import re
import shutil
from pathlib import Path

import pytest

from contracts import ALERTS
from infra.settings import locate_root
from ops.cli.replay_difference import FIELDS_SHOWN, WIDTH, render_document, show_difference
from ops.replay.compare import Compared, find_changes
from ops.replay.difference import Difference
from ops.replay.thresholds import edit
from tests.answers import FENCED
from tests.ops.cli.differences import SHOWN

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
    assert max(map(len, rest.splitlines())) <= WIDTH


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


def test_no_difference_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    same = Difference(ALERTS.name, 1_312, 1_312, 0, 0, 0, (), (), ())
    generations = "generation 1", "generation 2"
    show_difference(Compared("fraud", *generations, "marker 7", 9, (same,)), None)
    assert capsys.readouterr().out.splitlines() == [
        "  difference    none: generation 1 = generation 2",
        "                fraud at marker 7 · 9 records · 1,312 rows",
    ]
