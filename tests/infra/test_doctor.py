import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.doctor import GIB, Finding, Holder, find_holder, run_checks
from infra.settings import HOST, Settings

OURS = Holder("java", 77, ours=True)
STRANGER = Holder("python3", 4121, ours=False)

Examine = Callable[..., list[Finding]]


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Examine:
    """The checks on a good machine, but for what is given."""

    def examine(
        starts: bool = True,
        writes: bool = True,
        disk_bytes: int = 50 * GIB,
        memory_bytes: int = 8 * GIB,
        holders: dict[int, Holder] | None = None,
        **settings: Any,
    ) -> list[Finding]:
        held = holders or {}
        memory = SimpleNamespace(available=memory_bytes)
        for name, answer in {
            "java.can_start": lambda: starts,
            "os.access": lambda *_: writes,
            "shutil.disk_usage": lambda _: SimpleNamespace(free=disk_bytes),
            "psutil.virtual_memory": lambda: memory,
            "find_holder": lambda _, port: held.get(port),
            "free": lambda port: port not in held,
        }.items():
            monkeypatch.setattr(f"infra.doctor.{name}", answer)
        return list(run_checks(Settings.model_validate({"data_dir": tmp_path, **settings})))

    return examine


def list_complaints(findings: list[Finding]) -> list[str]:
    return [str(finding) for finding in findings if not finding.good]


def test_orders_that_nobody_proposes_are_refused(examine: Examine) -> None:
    orders = {"simulator_refill": "orders", "pipelines": "inventory"}
    [complaint] = list_complaints(examine(**orders))
    assert "PIPELINES=inventory,reorder" in complaint
    orders["pipelines"] = "inventory,reorder"
    assert list_complaints(examine(**orders)) == []


@pytest.mark.parametrize(
    ("change", "found", "remedy"),
    [
        ({"starts": False}, "does not start", "java -version"),
        ({"writes": False}, "cannot be written", "DATA_DIR="),
        ({"disk_bytes": GIB}, "1.0 GiB free disk", "2 GiB are needed"),
        ({"memory_bytes": GIB}, "1.0 GiB free memory", "5 GiB are needed"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(
    examine: Examine, change: dict[str, Any], found: str, remedy: str
) -> None:
    assert list_complaints(examine()) == []
    [complaint] = list_complaints(examine(**change))
    assert found in complaint
    assert remedy in complaint


def test_a_busy_port_is_said_with_its_holder_and_other_ports_that_are_free(
    examine: Examine,
) -> None:
    holders = {8000: STRANGER, 8100: STRANGER, 9292: STRANGER}
    [said] = list_complaints(examine(holders=holders))
    remedy = "Stop it, or choose others: make up PORT_BASE=8300"
    assert said == f"Port 8000 is in use by python3 (pid 4121). {remedy}"
    [unseen] = list_complaints(examine(holders={9092: Holder("another user's process", 0, False)}))
    assert unseen.startswith("Port 9092 is in use by another user's process. Stop it")


def test_our_own_components_may_hold_their_ports_and_memory(examine: Examine) -> None:
    assert list_complaints(examine(holders={9092: OURS}, memory_bytes=GIB)) == []


def test_with_a_remote_kafka_only_the_api_needs_a_port(examine: Examine) -> None:
    findings = examine(kafka_bootstrap_servers="kafka.example:9093")
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
    found = {each.check: each for each in run_checks(Settings(data_dir=tmp_path / "a" / "b"))}
    assert found["data folder"].good
    assert not found["java"].good  # one that is not there
