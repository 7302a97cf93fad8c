"""Waiting for components: in order, with a limit, and with the log of what failed."""

import dataclasses
from typing import cast

import pytest

from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor.manager import Manager, Process
from ops.cli import fleet as components
from ops.cli.fleet import await_all

RUNNING = Process("", "RUNNING", pid=7, started_at=100, up_seconds=1, reason="")


class Fleet:
    """Processes in the states that a test gives them."""

    def __init__(self, **processes: Process) -> None:
        self.processes = processes

    def find_process(self, name: str) -> Process:
        return dataclasses.replace(self.processes.get(name, RUNNING), name=name)


def wait(current: Settings, fleet: Fleet, *names: str) -> None:
    await_all(current, cast(Manager, fleet), names)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two questions."""
    monkeypatch.setattr(components, "POLL_SECONDS", 0)


def test_components_are_printed_in_order_though_the_last_is_ready_first(
    current: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"pipelines": iter([None, None, "generation 1"]), "api": iter(["ready"])}
    monkeypatch.setattr(components, "find_readiness", lambda _, name, __: next(answers[name]))
    wait(current, Fleet(), "pipelines", "api")
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [words[0] for words in printed] == ["pipelines", "api"]


def test_readiness_is_asked_about_this_start(
    current: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        components, "find_readiness", lambda _, __, started_at: f"since {started_at}"
    )
    wait(current, Fleet(), "api")
    assert "since 100" in capsys.readouterr().out


def test_a_component_that_was_given_up_shows_the_end_of_its_log(current: Settings) -> None:
    (current.logs_dir / "api.log").write_text("started\nAddress already in use\n")
    fatal = dataclasses.replace(RUNNING, state="FATAL", reason="Exited too quickly")
    with pytest.raises(UserError, match=r"api is not ready.*FATAL(.|\n)*Address already in use"):
        wait(current, Fleet(api=fatal), "api")


def test_a_component_that_somebody_stops_is_not_waited_for(current: Settings) -> None:
    stopped = dataclasses.replace(RUNNING, state="STOPPED")
    with pytest.raises(UserError, match="api is not ready"):
        wait(current, Fleet(api=stopped), "api")


def test_a_manager_that_is_gone_is_said(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Fleet, __: str) -> Process:
        raise ConnectionRefusedError

    monkeypatch.setattr(Fleet, "find_process", refuse)
    with pytest.raises(UserError, match="make up"):
        wait(current, Fleet(), "api")


def test_a_component_that_takes_too_long_is_said(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(components.READY_SECONDS_MAX, "api", 0)
    monkeypatch.setattr(components, "find_readiness", lambda *_: None)
    with pytest.raises(UserError, match=r"api is not ready(.|\n)*make logs COMPONENT=api"):
        wait(current, Fleet(), "api")
