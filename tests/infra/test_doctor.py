import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.doctor import GIB, Finding, Holder, Machine, find_holder, inspect_machine, run_checks
from infra.settings import HOST, Settings

GOOD = Machine(
    starts_java=True,
    memory_bytes=8 * GIB,
    disk_bytes=50 * GIB,
    may_write=True,
    find_holder=lambda _: None,
)
OURS = Holder("java", 77, ours=True)
STRANGER = Holder("python3", 4121, ours=False)


def examine(machine: Machine, folder: Path, **settings: object) -> list[Finding]:
    return list(run_checks(machine, Settings.model_validate({"data_dir": folder, **settings})))


def list_complaints(machine: Machine, folder: Path, **settings: object) -> list[str]:
    return [str(finding) for finding in examine(machine, folder, **settings) if not finding.good]


def hold(holders: dict[int, Holder], **others: Any) -> Machine:
    return replace(GOOD, find_holder=holders.get, **others)


def test_orders_that_nobody_proposes_are_refused(tmp_path: Path) -> None:
    orders = {"simulator_refill": "orders", "pipelines": "inventory"}
    [complaint] = list_complaints(GOOD, tmp_path, **orders)
    assert "PIPELINES=inventory,reorder" in complaint
    orders["pipelines"] = "inventory,reorder"
    assert list_complaints(GOOD, tmp_path, **orders) == []


@pytest.mark.parametrize(
    ("change", "found", "remedy"),
    [
        ({"starts_java": False}, "does not start", "java -version"),
        ({"may_write": False}, "cannot be written", "DATA_DIR="),
        ({"disk_bytes": GIB}, "1.0 GiB free disk", "2 GiB are needed"),
        ({"memory_bytes": GIB}, "1.0 GiB free memory", "5 GiB are needed"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(
    tmp_path: Path, change: dict[str, Any], found: str, remedy: str
) -> None:
    assert list_complaints(GOOD, tmp_path) == []
    [complaint] = list_complaints(replace(GOOD, **change), tmp_path)
    assert found in complaint
    assert remedy in complaint


def test_a_busy_port_is_said_with_its_holder_and_other_ports_that_are_free(tmp_path: Path) -> None:
    [said] = list_complaints(hold({8000: STRANGER, 8100: STRANGER, 9292: STRANGER}), tmp_path)
    remedy = "Stop it, or choose others: make up PORT_BASE=8300"
    assert said == f"Port 8000 is in use by python3 (pid 4121). {remedy}"
    [unseen] = list_complaints(hold({9092: Holder("another user's process", 0, False)}), tmp_path)
    assert unseen.startswith("Port 9092 is in use by another user's process. Stop it")


def test_our_own_components_may_hold_their_ports_and_memory(tmp_path: Path) -> None:
    assert list_complaints(hold({9092: OURS}, memory_bytes=GIB), tmp_path) == []


def test_with_a_remote_kafka_only_the_api_needs_a_port(tmp_path: Path) -> None:
    findings = examine(GOOD, tmp_path, kafka_bootstrap_servers="kafka.example:9093")
    assert [finding.check for finding in findings if "port" in finding.check] == ["port 8000"]


def test_who_listens_on_a_port_is_named(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        holder = find_holder(tmp_path, port)
    assert holder is not None
    assert (holder.pid, holder.ours) == (os.getpid(), False)
    assert find_holder(tmp_path, port) is None


def test_a_folder_is_judged_by_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.java.locate_java", lambda: tmp_path / "java")
    machine = inspect_machine(Settings(data_dir=tmp_path / "a" / "b"))
    assert machine.may_write
    assert machine.disk_bytes > 0
    assert not machine.starts_java  # one that is not there
