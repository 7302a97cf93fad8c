"""The four changes of the guide, made as they are written, are answered as it says."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ops.cli import contracts as commands
from ops.cli.main import build_application
from tests.answers import is_same
from tests.contracts.evolution.editing import TODAY, copy_contracts
from tests.contracts.evolution.guide import apply, read_sections


@pytest.mark.parametrize("title", read_sections())
def test_whoever_follows_the_guide_is_told_what_it_says(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_contracts(tmp_path / "contracts")
    monkeypatch.setattr(commands, "get_today", lambda: TODAY)
    monkeypatch.chdir(tmp_path)
    for step in read_sections()[title]:
        if step.diff:
            apply(folder, step.diff)
            continue
        words = [*step.command.removeprefix("retail ").split(), "--folder", str(folder)]
        answered = CliRunner().invoke(build_application(), words).output
        assert is_same(step.answer, answered), answered
