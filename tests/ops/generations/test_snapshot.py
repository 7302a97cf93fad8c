import shutil
from pathlib import Path

import pytest

from infra.settings import locate_root
from ops.generations import snapshot


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A copy of the project's code, to be changed."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for room in ("contracts", "infra", "ops", "pipelines"):
        shutil.copytree(locate_root() / room, tmp_path / room, ignore=unwanted)
    return tmp_path


def digest(code: Path) -> str:
    return snapshot.compute_code_digest(code, "inventory")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pipelines/inventory/transform.py", "- sum_units(SOLD)", "+ sum_units(SOLD)"),
        ("contracts/topics/sales/receipt.v1.yaml", "minimum: 1", "minimum: 2"),
        ("pipelines/common/pipeline.py", "weight: int = 1", "weight: int = 2"),
        ("pipelines/common/transform/validate.py", "9999, 12, 31", "9999, 12, 30"),
        ("pipelines/engine/java/Body.java", "shift += 7", "shift += 8"),
        ("pipelines/engine/pace.py", "MARGIN = timedelta(hours=1)", "MARGIN = timedelta(hours=2)"),
        ("pipelines/engine/archive.py", 'RECORD = "topic STRING', 'RECORD = "topic  STRING'),
    ],
)
def test_a_change_of_logic_changes_the_digest(code: Path, file: str, old: str, new: str) -> None:
    before = digest(code)
    edit(code / file, old, new)
    assert digest(code) != before


@pytest.mark.parametrize(
    "file",
    [
        *(f"ops/generations/{name}.py" for name in ("promotion", "lifecycle", "supervisor")),
        *(f"pipelines/engine/{name}.py" for name in ("throttle", "tuning/optimized")),
        "pipelines/fraud/rules.py",
    ],
)
def test_a_change_that_no_answer_depends_on_leaves_the_digest(code: Path, file: str) -> None:
    before = digest(code)
    with (code / file).open("a") as changed:
        changed.write("\nCHANGED = True\n")
    assert digest(code) == before


def test_comments_docstrings_and_layout_change_nothing(code: Path) -> None:
    before = digest(code)
    edit(code / "pipelines/inventory/transform.py", '"""Names', '"""Takes')
    edit(code / "pipelines/inventory/transform.py", "\nSOLD =", "\n\n# A sale.\nSOLD =")
    edit(code / "contracts/topics/sales/receipt.v1.yaml", "kind:", "# A comment.\nkind:")
    assert digest(code) == before


def test_an_interrupted_snapshot_is_taken_anew(code: Path, tmp_path: Path) -> None:
    copy = tmp_path / "generation" / "code"
    half = copy.with_name("code.new") / "pipelines"
    half.mkdir(parents=True)
    (half / "left_over.py").write_text("half = True")
    snapshot.take(code, copy)
    assert not (copy / "pipelines" / "left_over.py").exists()
    assert digest(copy) == digest(code)


def test_other_packages_or_jars_are_other_libraries(code: Path) -> None:
    before = snapshot.compute_libraries_digest(code)
    assert before == snapshot.compute_libraries_digest(locate_root())
    edit(code / "infra/requirements/retail.lock", "pyspark==", "pyspark==9.")
    packages = snapshot.compute_libraries_digest(code)
    edit(code / "infra/jars/spark/jgo.lock.toml", 'version = "4.2.0"', 'version = "4.2.9"')
    assert len({before, packages, snapshot.compute_libraries_digest(code)}) == 3
