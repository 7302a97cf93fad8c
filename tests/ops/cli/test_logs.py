"""Logs are shown by tail, which follows a log through its size limit."""

import os

import pytest

from infra.errors import UserError
from infra.settings import Settings
from ops.cli.logs import logs


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that takes over."""
    command: list[str] = []
    monkeypatch.setattr(os, "execvp", lambda _, arguments: command.extend(arguments))
    return command


def test_one_log_is_followed(current: Settings, lines: list[str]) -> None:
    log = current.logs_dir / "api.log"
    log.touch()
    logs("api", follow=True, lines=5)
    assert lines == ["tail", "-n", "5", "-F", "--", str(log)]


def test_without_a_name_all_logs_are_shown(current: Settings, lines: list[str]) -> None:
    for name in ("api", "broker"):
        (current.logs_dir / f"{name}.log").touch()
    logs()
    assert [path.rsplit("/", 1)[1] for path in lines[4:]] == ["broker.log", "api.log"]


def test_an_unknown_component_is_told_the_known_ones(current: Settings) -> None:
    with pytest.raises(UserError, match="broker, simulator, quarantine, pipelines, api"):
        logs("till")


def test_before_the_first_start_there_are_no_logs(current: Settings) -> None:
    with pytest.raises(UserError, match="make up"):
        logs()
