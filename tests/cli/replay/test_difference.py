"""A difference on the terminal says what moved, and is as narrow as one."""

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.replay.difference import FIELDS_SHOWN, INDENT, WIDTH, render_document, show_difference
from contracts import ALERTS
from infra.settings import root
from replay.causes import Changes, Setting, explain, find_changes
from replay.compare import Compared
from replay.difference import Difference, Facet, Sample, Total
from replay.thresholds import edit
from tests.answers import FENCED

AT = datetime(2026, 3, 2, 10, tzinfo=UTC)
KEY = {"rule": "card-velocity", "subject": "tok_0123456789ab", "interval_start": AT}
ALERT = {
    "interval_end": AT,
    "status": "open",
    "store_id": "S003",
    "measured": 4,
    "threshold": 3,
    "evidence": [{}, {}],
    "version": 9,
}
STORES = [f"S{number:03}" for number in range(12)]
MOVED = Difference(
    view=ALERTS.name,
    before=1_312,
    after=1_355,
    added=43,
    removed=0,
    changed=61,
    totals=(Total("measured", 12_345, 14_000), Total("events", 7, 7)),
    facets=(
        Facet("rule", "card-velocity", 61, 104),
        Facet("rule", "sweethearting", 30, 30),
        *(Facet("store_id", store, 1_000, 1_100) for store in STORES),
    ),
    periods=(),
    largest=(
        *[Sample(KEY, {"threshold": 5, "version": 6}, {"threshold": 3, "version": 7})] * 5,
        *[Sample(KEY, {}, ALERT)] * 5,
    ),
)


GUIDE = root() / "pipelines" / "REPLAY.md"
STORES_OF_GUIDE = {
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


def decide(limit: int, decided_at: datetime) -> dict[str, object]:
    return {"threshold": limit, "decided_at": decided_at}


# The difference that the guide shows.
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
        *(Facet("store_id", store, *counts) for store, counts in STORES_OF_GUIDE.items()),
    ),
    periods=(),
    largest=(
        Sample(
            card("98724250769f", 19),
            decide(5, at(19, 54, 33)),
            decide(3, at(19, 52, 29)),
        ),
        Sample(
            card("cb7f6e1bc23a", 19),
            decide(5, at(19, 27, 1)),
            decide(3, at(19, 26, 14)),
        ),
        Sample(
            card("13160c42eb1f", 10),
            {},
            {"status": "open", "store_id": "S001", "measured": 4, "threshold": 3},
        ),
        Sample(
            card("14110ce4a5c9", 16),
            {},
            {"status": "open", "store_id": "S006", "measured": 5, "threshold": 3},
        ),
    ),
)


@pytest.fixture
def card_difference(tmp_path: Path) -> Compared:
    """What the guide compares, explained by the edit that the guide makes."""
    codes = tmp_path / "before", tmp_path / "after"
    for code in codes:
        shutil.copytree(root() / "pipelines" / "fraud", code / "pipelines" / "fraud")
    for file, text in edit(root(), "fraud", ["card_sales_per_window_max=3"]).items():
        (codes[1] / file).write_text(text)
    changes = find_changes(*codes, "fraud")
    views = (explain(SHOWN, changes),)
    generations = "generation 1", "generation 2"
    return Compared("fraud", *generations, "marker 37", 153_391, views, changes)


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
        cause = one["cause"].replace(";", "")
        assert f"{one['kind']} {one['name']} {words} because {cause}" in printed


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


def test_the_cause_of_a_row_and_what_differs_in_the_code_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cause = "card_sales_per_window_max 5 → 3; counts as many events as before"
    samples = tuple(replace(one, cause=cause) for one in MOVED.largest)
    setting = Setting("card_sales_per_window_max", 5, 3)
    files = tuple(f"pipelines/fraud/module_{at}.py" for at in range(7))
    compared = Compared(
        "fraud",
        "generation 1",
        "generation 2",
        "marker 7",
        9,
        (replace(MOVED, largest=samples),),
        Changes((setting,), files),
    )
    show_difference(compared, None)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "    code        card_sales_per_window_max 5 → 3 · pipelines/fraud/module_0.py" in printed
    assert "and 2 more files" in printed
    assert printed.count("because card_sales_per_window_max 5 → 3\n") == 4
    assert printed.count("counts as many events as before\n") == 4


def test_no_difference_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    printed = render_difference(Difference(ALERTS.name, 1_312, 1_312, 0, 0, 0, (), (), (), ()), capsys)
    assert printed.splitlines() == [
        "  difference    none: generation 1 = generation 2",
        "                fraud at marker 7 · 9 records · 1,312 rows",
    ]
