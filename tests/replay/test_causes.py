"""Why a row differs is told where codes and row tell it, and not guessed anywhere else."""

import shutil
from pathlib import Path

import pytest

from infra.settings import locate_root
from ops.replay import causes
from ops.replay.causes import FILES_MAX, Changes, Setting, find_cause
from ops.replay.difference import Sample
from ops.replay.thresholds import edit

CARD = {"rule": "card-velocity", "subject": "tok"}
STRICTER = Setting("card_sales_per_window_max", 5, 3)

THRESHOLDS = """class Thresholds:
    cents_max: int = 5
    receipts_min: int = 3
    unread_max: int = 1
"""
RULES = """def gift(signals, limits):
    return amount(signals, limits) > limits.cents_max

def amount(signals, limits):
    return again(signals, limits) * limits.receipts_min

def again(signals, limits):
    return gift if not signals else 1

def other(signals, limits):
    return 0
"""


@pytest.fixture
def codes(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a pipeline of one rule, which reads two of three thresholds."""
    for name in ("before", "after"):
        folder = tmp_path / name / "pipelines" / "toy"
        folder.mkdir(parents=True)
        (folder / "thresholds.py").write_text(THRESHOLDS)
        (folder / "rules.py").write_text(RULES)
    return tmp_path / "before", tmp_path / "after"


def find_changes(before: Path, after: Path, pipeline: str) -> Changes:
    changes = causes.find_changes(before, after, pipeline)
    assert changes is not None
    return changes


def change(code: Path, old: str, new: str, name: str = "thresholds.py") -> None:
    file = code / "pipelines" / "toy" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_the_changed_threshold_of_fraud_is_the_cause_of_its_rules_rows(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for code in (before, after):
        shutil.copytree(locate_root() / "pipelines" / "fraud", code / "pipelines" / "fraud")
    [(file, text)] = edit(locate_root(), "fraud", ["card_sales_per_window_max=3"]).items()
    (after / file).write_text(text)
    changes = find_changes(before, after, "fraud")
    assert changes.thresholds == (STRICTER,)
    assert changes.files == ("pipelines/fraud/thresholds.py",)
    assert find_cause(Sample(CARD, {}, {"measured": 4}), changes) == str(STRICTER)
    assert str(STRICTER) == "card_sales_per_window_max 5 → 3"
    travel = Sample({"rule": "impossible-travel"}, {}, {"measured": 4})
    assert find_cause(travel, changes) is None


def test_a_rule_reads_what_the_functions_read_that_it_calls(codes: tuple[Path, Path]) -> None:
    change(codes[1], "receipts_min: int = 3", "receipts_min: int = 2")
    change(codes[1], "unread_max: int = 1", "unread_max: int = 9")
    changes = find_changes(*codes, "toy")
    assert [one.name for one in changes.thresholds] == ["receipts_min", "unread_max"]
    assert changes.find_thresholds("gift") == [Setting("receipts_min", 3, 2)]
    assert changes.find_thresholds("other") == []
    assert changes.find_thresholds("no-rule") == []


def test_a_threshold_that_comes_or_goes_is_told(codes: tuple[Path, Path]) -> None:
    change(codes[1], "    cents_max: int = 5\n", "    euros_max: int = 5\n")
    lines = [str(one) for one in find_changes(*codes, "toy").thresholds]
    assert lines == ["cents_max 5 → none", "euros_max none → 5"]


def test_the_same_code_has_no_changes_and_of_one_elsewhere_nothing_is_told(
    codes: tuple[Path, Path],
) -> None:
    changes = find_changes(*codes, "toy")
    assert (changes.thresholds, changes.files) == ((), ())
    assert causes.find_changes(codes[0], codes[1] / "elsewhere", "toy") is None


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_files_that_differ_are_named_up_to_a_limit(codes: tuple[Path, Path], more: int) -> None:
    for name in range(FILES_MAX + more):
        (codes[1] / "pipelines" / "toy" / f"module_{name}.py").write_text("")
    assert len(find_changes(*codes, "toy").files) == min(FILES_MAX, FILES_MAX + more)


def test_files_of_another_pipeline_do_not_count(codes: tuple[Path, Path]) -> None:
    for name in ("other", "common", "engine"):
        folder = codes[1] / "pipelines" / name
        folder.mkdir()
        (folder / "module.py").write_text("")
    assert find_changes(*codes, "toy").files == (
        "pipelines/common/module.py",
        "pipelines/engine/module.py",
    )


@pytest.mark.parametrize(
    ("sample", "cause"),
    [
        (Sample(CARD, {}, {"measured": 4, "version": 7}), None),
        (Sample(CARD, {"measured": 4, "version": 7}, {}), None),
        (
            Sample(CARD, {"measured": 4, "version": 1_000}, {"measured": 5, "version": 1_001}),
            "counts 1,001 events, 1,000 before",
        ),
        (Sample(CARD, {"measured": 4}, {"measured": 5}), "counts as many events as before"),
    ],
)
def test_without_a_changed_threshold_only_a_changed_row_tells_something(
    sample: Sample, cause: str | None
) -> None:
    assert find_cause(sample, Changes()) == cause


def test_a_changed_row_tells_of_threshold_and_events() -> None:
    changes = Changes((STRICTER,), reads={"card_velocity": frozenset({STRICTER.name, "other"})})
    cause = find_cause(Sample(CARD, {"threshold": 5}, {"threshold": 3}), changes)
    assert cause == "card_sales_per_window_max 5 → 3; counts as many events as before"
