"""A difference on the terminal says what moved, and is as narrow as one."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cli.replay.difference import INDENT, WIDTH, show_difference
from contracts import ALERTS
from replay.causes import Changes, Setting
from replay.compare import Compared
from replay.difference import Difference, Facet, Sample, Total

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


def render_difference(view: Difference, capsys: pytest.CaptureFixture[str]) -> str:
    show_difference(Compared("fraud", "generation 1", "generation 2", "marker 7", 9, (view,)), None)
    return capsys.readouterr().out


def test_what_moved_is_told_within_the_width_of_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = render_difference(MOVED, capsys)
    assert max(map(len, told.splitlines())) <= WIDTH
    assert "1,312 → 1,355 rows · +43 −0 · changed 61" in told
    assert "card-velocity 61 → 104" in told
    assert "sweethearting" not in told, "as many as before"
    assert "events" not in told, "as many as before"
    assert all(f"{store} 1,000 → 1,100" in told for store in STORES), "and none is broken"
    assert told.count("    new         card-velocity/tok_0123456789ab/") == 2
    assert f"{' ' * INDENT}status open · store_id S003 · measured 4 · threshold 3\n" in told
    assert told.count(f"{' ' * INDENT}threshold 5 → 3\n") == 2


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
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= WIDTH
    assert "    code        card_sales_per_window_max 5 → 3 · pipelines/fraud/module_0.py" in told
    assert "and 2 more files" in told
    assert told.count("because card_sales_per_window_max 5 → 3\n") == 4
    assert told.count("counts as many events as before\n") == 4


def test_no_difference_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    told = render_difference(Difference(ALERTS.name, 1_312, 1_312, 0, 0, 0, (), (), (), ()), capsys)
    assert told.splitlines() == [
        "  difference    none: generation 1 = generation 2",
        "                fraud at marker 7 · 9 records · 1,312 rows",
    ]
