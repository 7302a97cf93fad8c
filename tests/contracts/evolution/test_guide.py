"""The four changes of the guide, made as they are written, are answered as it says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from ops.cli import contracts as commands
from ops.cli.experiments import parse_exchanges
from ops.cli.main import build_application
from tests.answers import FENCED, is_same
from tests.contracts.evolution.editing import HERE, TODAY, copy_contracts

GUIDE = HERE / "CHANGING.md"
GAP = " ..."


class Step(NamedTuple):
    """A change to files, or a command and what it answers."""

    diff: str
    command: str
    answer: str


def read_sections() -> dict[str, list[Step]]:
    parts = re.split(r"^## (.+)$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    sections = zip(parts[::2], parts[1::2], strict=True)
    return {title: list(_parse_steps(text)) for title, text in sections}


def _parse_steps(text: str) -> Iterator[Step]:
    for diff, block in FENCED.findall(text):
        if diff:
            yield Step(block, "", "")
        else:
            yield from (Step("", *exchange) for exchange in parse_exchanges(block))


def apply(folder: Path, diff: str) -> None:
    """Change the files as the diff says; lines of context are there once."""
    file = folder
    hunk: list[str] = []
    for line in [*diff.splitlines(), GAP]:
        if line.startswith("+++ "):
            continue
        if line.startswith("--- ") or line == GAP:
            _replace(file, hunk)
            hunk = []
            file = folder / line.removeprefix("--- ") if line != GAP else file
        else:
            hunk.append(line)


def _replace(file: Path, hunk: list[str]) -> None:
    if not hunk:
        return
    old, new = ("".join(f"{line[1:]}\n" for line in hunk if line[0] in f" {side}") for side in "-+")
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file.name} holds {text.count(old)} times:\n{old}"
    file.write_text(text.replace(old, new), encoding="utf-8")


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
