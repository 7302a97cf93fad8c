"""What is found out about this machine."""

import os
import socket
from pathlib import Path

import pytest

from infra.doctor.probes import Machine
from infra.settings import HOST


def test_who_listens_on_a_port_is_named(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        holder = Machine(tmp_path).find_holder(server.getsockname()[1])
    assert holder is not None
    assert holder.pid == os.getpid()
    assert not holder.ours


def test_nobody_listens_on_a_free_port(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    assert Machine(tmp_path).find_holder(port) is None


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.is_writable(tmp_path / "a" / "b")
    assert machine.measure_free_disk_bytes(tmp_path / "a" / "b") > 0


def test_modules_and_commands_are_looked_up(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.has_module("ensurepip")
    assert not machine.has_module("no_such_module")
    assert not machine.has_command("no-such-command")


def test_a_java_that_is_not_there_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Machine(tmp_path).can_start_java()
    monkeypatch.setattr("infra.java.locate_java", lambda: tmp_path / "java")
    assert not Machine(tmp_path).can_start_java()
