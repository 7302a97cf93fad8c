"""A difference on the terminal says what moved, and is as narrow as one."""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts import ALERTS
from infra.settings import locate_root
from ops.cli.replay_difference import FIELDS_SHOWN, WIDTH, render_document, show_difference
from ops.replay.compare import Compared, find_changes
from ops.replay.difference import Difference, Facet, Sample, Total
from ops.replay.thresholds import edit
from tests.answers import FENCED

GUIDE = locate_root() / "pipelines" / "REPLAY.md"
GENERATIONS = "generation 1", "generation 2"

STORES = {
    "S000": (13, 17),
    "S001": (9, 10),
    "S002": (10, 11),
    "S004": (5, 6),
    "S006": (9, 10),
    "S007": (4, 5),
    "S008": (7, 8),
    "S010": (5, 6),
    "S011": (0, 1),
}


def at(hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 3, 2, hour, minute, second, tzinfo=UTC)


def card(subject: str, hour: int) -> dict[str, object]:
    return {"rule": "card-velocity", "subject": f"tok_{subject}", "interval_start": at(hour)}


SHOWN = Difference(
    view=ALERTS.name,
    before=79,
    after=91,
    added=12,
    removed=0,
    changed=4,
    totals=(
        Total("measured", 210_410, 210_462),
        Total("threshold", 134_340, 134_368),
        Total("events", 220, 274),
    ),
    facets=(
        Facet("rule", "card-velocity", 4, 16),
        Facet("status", "open", 26, 38),
        *(Facet("store_id", store, *counts) for store, counts in STORES.items()),
    ),
    largest=(
        Sample(
            card("98724250769f", 19),
            {"threshold": 5, "decided_at": at(19, 54, 33)},
            {"threshold": 3, "decided_at": at(19, 52, 29)},
        ),
        Sample(
            card("13160c42eb1f", 10),
            {},
            {"status": "open", "store_id": "S001", "measured": 4, "threshold": 3},
        ),
    ),
)
"""The difference that the guide shows."""


@pytest.fixture
def card_difference(tmp_path: Path) -> Compared:
    """What the guide compares. The edit is the one that the guide makes."""
    codes = tmp_path / "before", tmp_path / "after"
    for code in codes:
        shutil.copytree(locate_root() / "pipelines" / "fraud", code / "pipelines" / "fraud")
    for file, text in edit(locate_root(), "fraud", ["card_sales_per_window_max=3"]).items():
        (codes[1] / file).write_text(text)
    changes = find_changes(*codes, "fraud")
    return Compared("fraud", *GENERATIONS, "marker 37", 153_391, (SHOWN,), changes)


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
    printed = re.sub(r"[\s·]+", " ", capsys.readouterr().out)
    [view] = json.loads(json.dumps(render_document(card_difference), default=str))["views"]
    assert [sample["kind"] for sample in view["largest"]] == ["changed", "new"]
    for sample in view["largest"]:
        words = " ".join(sample["words"][:FIELDS_SHOWN])
        assert f"{sample['kind']} {sample['name']} {words}" in printed


def test_no_difference_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    same = Difference(ALERTS.name, 1_312, 1_312, 0, 0, 0, (), (), ())
    show_difference(Compared("fraud", *GENERATIONS, "marker 7", 9, (same,)), None)
    assert capsys.readouterr().out.splitlines() == [
        "  difference    none: generation 1 = generation 2",
        "                fraud at marker 7 · 9 records · 1,312 rows",
    ]
