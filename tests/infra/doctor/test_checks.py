"""Every check says what it found and what to do about it."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.doctor.checks import GIB, Finding, run_checks
from infra.doctor.probes import Holder
from infra.settings import Settings


@dataclass(frozen=True)
class Good:
    """A machine on which every check passes, unless a test changes it."""

    python: tuple[int, int, int] = (3, 11, 7)
    modules: frozenset[str] = frozenset({"venv", "ensurepip"})
    commands: frozenset[str] = frozenset({"make"})
    java: bool = True
    memory_bytes: int = 8 * GIB
    disk_bytes: int = 50 * GIB
    may_write: bool = True
    holders: dict[int, Holder] = field(default_factory=dict)

    def read_python_version(self) -> tuple[int, int, int]:
        return self.python

    def has_module(self, name: str) -> bool:
        return name in self.modules

    def has_command(self, name: str) -> bool:
        return name in self.commands

    def can_start_java(self) -> bool:
        return self.java

    def measure_memory_bytes(self) -> int:
        return self.memory_bytes

    def measure_free_disk_bytes(self, folder: Path) -> int:
        return self.disk_bytes

    def is_writable(self, folder: Path) -> bool:
        return self.may_write

    def find_holder(self, port: int) -> Holder | None:
        return self.holders.get(port)


OURS = Holder("java", 77, ours=True)
STRANGER = Holder("python3", 4121, ours=False)


def examine(machine: Good, tmp_path: Path, **settings: object) -> list[Finding]:
    return list(run_checks(machine, Settings.model_validate({"data_dir": tmp_path, **settings})))


def test_orders_that_nobody_proposes_are_refused(tmp_path: Path) -> None:
    orders = {"simulator_refill": "orders", "pipelines": "inventory"}
    (finding,) = [one for one in examine(Good(), tmp_path, **orders) if not one.good]
    assert "PIPELINES=inventory,reorder" in finding.remedy
    orders["pipelines"] = "inventory,reorder"
    assert all(one.good for one in examine(Good(), tmp_path, **orders))


def list_complaints(machine: Good, tmp_path: Path) -> list[str]:
    return [str(finding) for finding in examine(machine, tmp_path) if not finding.good]


def test_a_good_machine_has_nothing_to_complain_of(tmp_path: Path) -> None:
    assert list_complaints(Good(), tmp_path) == []


@pytest.mark.parametrize(
    ("change", "found", "remedy"),
    [
        ({"python": (3, 9, 2)}, "Python 3.9.2", "make up PYTHON=python3.11"),
        ({"modules": frozenset({"venv"})}, "no modules venv", "apt-get install python3.11-venv"),
        ({"commands": frozenset()}, "no make", "apt-get install make"),
        ({"java": False}, "does not start", "java -version"),
        ({"may_write": False}, "cannot be written", "DATA_DIR="),
        ({"disk_bytes": GIB}, "1.0 GiB free disk", "2 GiB are needed"),
        ({"memory_bytes": GIB}, "1.0 GiB free memory", "4 GiB are needed"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(
    tmp_path: Path, change: dict[str, object], found: str, remedy: str
) -> None:
    machine = dataclasses.replace(Good(), **change)  # type: ignore[arg-type]
    (complaint,) = list_complaints(machine, tmp_path)
    assert found in complaint
    assert remedy in complaint


def test_a_busy_port_is_said_with_its_holder_and_other_ports_that_are_free(tmp_path: Path) -> None:
    machine = Good(holders={8000: STRANGER, 8100: STRANGER, 9292: STRANGER})
    assert list_complaints(machine, tmp_path) == [
        "Port 8000 is in use by python3 (pid 4121). "
        "Stop it, or choose others: make up PORT_BASE=8300"
    ]


def test_a_port_of_another_user_is_said_without_a_name(tmp_path: Path) -> None:
    machine = Good(holders={9092: Holder("another user's process", 0, ours=False)})
    (complaint,) = list_complaints(machine, tmp_path)
    assert complaint.startswith("Port 9092 is in use by another user's process. Stop it")


def test_our_own_components_may_hold_their_ports_and_memory(tmp_path: Path) -> None:
    machine = Good(holders={9092: OURS}, memory_bytes=GIB)
    assert list_complaints(machine, tmp_path) == []


def test_with_a_remote_kafka_only_the_api_needs_a_port(tmp_path: Path) -> None:
    findings = examine(Good(), tmp_path, kafka_bootstrap_servers="kafka.example:9093")
    assert [one.check for one in findings if "port" in one.check] == ["port 8000"]
