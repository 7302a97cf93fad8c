from dataclasses import replace
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest

from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor.manager import Manager, Process, State
from ops.cli import fleet as components
from ops.cli.fleet import await_all

RUNNING = Process("", "RUNNING", pid=7, started_at=100, up_seconds=1, reason="")


def wait(current: Settings, *names: str, process: Process = RUNNING) -> None:
    """Wait for components whose processes are all in one state."""
    manager = SimpleNamespace(find_process=lambda name: replace(process, name=name))
    await_all(current, cast(Manager, manager), names)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "POLL_SECONDS", 0)


def test_components_are_printed_in_order_and_asked_about_this_start(
    current: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last one is ready first."""
    answers = {"pipelines": iter([None, None, "since"]), "api": iter(["since"])}

    def answer(_: Settings, name: str, started_at: int) -> str | None:
        text = next(answers[name])
        return text and f"{text} {started_at}"

    monkeypatch.setattr(components, "find_readiness", answer)
    wait(current, "pipelines", "api")
    printed = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert printed == [["pipelines", "since", "100"], ["api", "since", "100"]]


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("FATAL", "Exited too quickly", r"FATAL(.|\n)*Address already in use"),
        ("STOPPED", "", "STOPPED"),  # by somebody else
    ],
)
def test_a_component_that_will_not_be_ready_shows_the_end_of_its_log(
    current: Settings, state: State, reason: str, said: str
) -> None:
    (current.logs_dir / "api.log").write_text("started\nAddress already in use\n")
    with pytest.raises(UserError, match=rf"api is not ready.*{said}"):
        wait(current, "api", process=replace(RUNNING, state=state, reason=reason))


def test_a_manager_that_is_gone_is_said(current: Settings) -> None:
    gone = Mock(find_process=Mock(side_effect=ConnectionRefusedError))
    with pytest.raises(UserError, match="make up"):
        await_all(current, gone, ("api",))


def test_a_component_too_slow_is_said(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(components.READY_SECONDS_MAX, "api", 0)
    monkeypatch.setattr(components, "find_readiness", lambda *_: None)
    with pytest.raises(UserError, match=r"api is not ready(.|\n)*make logs COMPONENT=api"):
        wait(current, "api")
