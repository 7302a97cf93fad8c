from pathlib import Path
from typing import cast

import pytest

from infra.doctor import Finding
from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor import daemon
from infra.supervisor.manager import Manager
from ops.cli import up


def test_complaints_are_said_at_once(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    in_use = "Port 8000 is in use by python3 (pid 4121)"
    java, port = Finding("java", "no Java", "Install it"), Finding("port", in_use, "Stop it")
    monkeypatch.setattr(up, "examine", lambda _: [java, Finding("make", "make"), port])
    with pytest.raises(UserError) as refused:
        up.check(current)
    assert str(refused.value).splitlines() == ["no Java. Install it", f"{in_use}. Stop it"]


def test_what_runs_keeps_its_settings(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = cast(Manager, object())
    monkeypatch.setattr(daemon, "find_running", lambda _: manager)
    assert up.ensure_manager(current) is manager
    moved = current.model_copy(update={"port_base": 8100})
    with pytest.raises(UserError, match=r"another PORT_BASE\. .*make down"):
        up.ensure_manager(moved)


def test_a_new_start_remembers_its_settings(
    current: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(daemon, "start", lambda _: cast(Manager, object()))
    up.ensure_manager(current.model_copy(update={"port_base": 8100}))
    assert Settings().port_base == 8100
