"""The program whose commands the API runs."""

import sys

import pytest

from services.api.app import RETAIL
from services.api.commands import Commands
from services.api.problem import Problem


def test_it_is_the_installed_command_line_which_says_what_it_does_not_know() -> None:
    commands = Commands(RETAIL, lambda: "a token")
    output = commands.run("replay", "--help")
    for name in ("diff", "promote", "rollback", "prune"):
        assert name in output
    with pytest.raises(Problem, match="No such command"):
        commands.run("replay", "guess")


def test_it_runs_as_the_operator_whoever_the_api_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_SERVICE", "api")
    program = "import os; print(os.environ['KAFKA_SERVICE'])"
    assert Commands((sys.executable, "-c", program), lambda: "a token").run() == "operator"
