"""What differs between two copies of a pipeline's code: thresholds and files."""

from pathlib import Path

import pytest

from ops.replay import compare
from ops.replay.compare import FILES_MAX, Changes

THRESHOLDS = """class Thresholds:
    cents_max: int = 5
    receipts_min: int = 3
    unread_max: int = 1
"""


@pytest.fixture
def codes(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a pipeline of three thresholds."""
    for name in ("before", "after"):
        folder = tmp_path / name / "pipelines" / "toy"
        folder.mkdir(parents=True)
        (folder / "thresholds.py").write_text(THRESHOLDS)
    return tmp_path / "before", tmp_path / "after"


def find_changes(before: Path, after: Path, pipeline: str) -> Changes:
    changes = compare.find_changes(before, after, pipeline)
    assert changes is not None
    return changes


def change(code: Path, old: str, new: str, name: str = "thresholds.py") -> None:
    file = code / "pipelines" / "toy" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_threshold_that_comes_or_goes_is_told(codes: tuple[Path, Path]) -> None:
    change(codes[1], "    cents_max: int = 5\n", "    euros_max: int = 5\n")
    lines = [str(threshold) for threshold in find_changes(*codes, "toy").thresholds]
    assert lines == ["cents_max 5 → none", "euros_max none → 5"]


def test_the_same_code_has_no_changes_and_of_one_elsewhere_nothing_is_told(
    codes: tuple[Path, Path],
) -> None:
    changes = find_changes(*codes, "toy")
    assert (changes.thresholds, changes.files) == ((), ())
    assert compare.find_changes(codes[0], codes[1] / "elsewhere", "toy") is None


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
