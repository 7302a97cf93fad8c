import re
from functools import partial
from pathlib import Path

import pytest

from infra.errors import UserError
from tests.contracts.evolution.editing import RECEIPT, copy_contracts, edit
from tests.ops.cli.commands import run_command

WRITES = "writes: [{}]\n\nreads:\n"


run_contracts = partial(run_command, "contracts")


def check(folder: Path) -> str:
    """What the check prints, without its line breaks."""
    return " ".join(run_contracts("check", "--folder", str(folder)).split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_contracts(tmp_path / "contracts")


def test_what_breaks_stands_last(folder: Path) -> None:
    """Below what is wrong with the files, and above the one line that counts it."""
    edit(folder, {RECEIPT: [("name: units\n", "name: quantity\n")]})
    printed = run_contracts("check", "--folder", str(folder), exit_code=1)
    lines = printed.splitlines()
    heads = [number for number, line in enumerate(lines) if "lines[].units: removed" in line]
    faults = [number for number, line in enumerate(lines) if line.startswith("  fault: ")]
    assert faults
    assert max(faults) < min(heads)
    words = " ".join(printed.split())
    assert "examples.0: " in words
    assert re.search(rf"{len(faults)} faults in \d+ contracts, \d+ consumers$", lines[-1])


def test_nothing_is_released_while_something_breaks(folder: Path) -> None:
    edit(folder, {RECEIPT: [("value: cents", "value: euros")]})
    before = sorted((folder / "released").rglob("*"))
    assert "Nothing is released" in run_contracts("release", "--folder", str(folder), exit_code=1)
    assert sorted((folder / "released").rglob("*")) == before


@pytest.mark.parametrize("kind", ["topic", "view", "window"])
def test_a_new_contract_is_a_draft_until_it_is_written(folder: Path, kind: str) -> None:
    name = f"public.sales.new-{kind}.v1"
    run_contracts("new", name, "--kind", kind, "--folder", str(folder))
    printed = check(folder)
    assert f"drafts, which nobody writes yet: {name}" in printed
    assert "not released" not in printed
    edit(folder, {"consumers/loyalty.yaml": [("reads:\n", WRITES.format(name))]})
    printed = check(folder)
    assert "drafts" not in printed
    assert f"not released as they stand: {name} " in printed


def test_a_second_version_needs_a_sunset_of_the_first(folder: Path) -> None:
    with pytest.raises(UserError, match="Add --sunset YYYY-MM-DD"):
        run_contracts("new", "public.sales.receipt.v2", "--folder", str(folder))
