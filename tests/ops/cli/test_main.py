"""The command line itself."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infra.kafka import offsets
from infra.settings import OPERATOR, Settings, locate_root
from ops.cli.main import COMMANDS, build_application, build_overview, main
from tests.rooms import INSTALLED


def test_who_names_no_command_reads_the_same_help() -> None:
    helps = [CliRunner().invoke(app(), ["--help"]) for app in (build_overview, build_application)]
    overview, whole = (sorted(each.output.splitlines()) for each in helps)
    assert overview == whole


def test_who_names_no_command_does_not_wait_until_all_are_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ops.cli.main"],
        env={**os.environ, "PYTHONPATH": str(locate_root())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Start everything" in done.stdout
    assert "typer" in done.stderr
    assert not any(
        f"ops.cli.{place.partition(':')[0]}" in done.stderr for place in COMMANDS.values()
    )


def test_an_unknown_command_is_said_and_the_nearest_one_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["retail", "verfy"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "No such command 'verfy'. Did you mean 'verify'?" in capsys.readouterr().err


@pytest.mark.parametrize("before", [[], ["--"]])
def test_trouble_is_said_without_a_traceback(
    current: Settings, monkeypatch: pytest.MonkeyPatch, before: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["retail", *before, "logs", "till"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == (
        "There is no component till. There are: broker, simulator, quarantine, pipelines, api"
    )


def test_a_command_that_asks_a_silent_broker_says_how_to_start_it(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["retail", "replay", "status"])
    monkeypatch.setattr(offsets, "REQUEST_SECONDS_MAX", 0.2)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == (
        f"Kafka does not answer on {current.bootstrap_servers}. Start it with: make up"
    )


def test_a_command_is_the_operators_whichever_service_the_container_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAFKA_SERVICE", "simulator")
    monkeypatch.setattr(sys, "argv", ["retail", "logs", "--help"])
    assert Settings().kafka_service == "simulator"
    with pytest.raises(SystemExit):
        main()
    assert Settings().kafka_service == OPERATOR


BAD = ("topics/sales/receipt.v1.yaml", "topics/sales/refund.v1.yaml")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what is installed, in which two contracts are bad."""
    for room in INSTALLED:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(locate_root() / room, tmp_path / room, ignore=unwanted)
    for file in BAD:
        contract = tmp_path / "contracts" / file
        contract.write_text(contract.read_text().replace("name: cashier_id", "name: Cashier", 1))
    return tmp_path


def run_in(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ops.cli.main", *words],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_bad_contract_is_told_without_a_traceback(clone: Path) -> None:
    """By a command that has nothing to do with contracts, too: all of them load the contracts."""
    printed = run_in(clone, "verify")
    assert printed.returncode == 1
    lines = printed.stderr.splitlines()
    for file in BAD:
        assert any(file in line and "'Cashier'" in line for line in lines), printed.stderr
        assert all(any(file in line for file in BAD) for line in lines), printed.stderr


def test_the_check_says_who_breaks_by_the_contracts_that_no_other_command_can_load(
    clone: Path,
) -> None:
    printed = run_in(clone, "contracts", "check")
    assert printed.returncode == 1
    assert printed.stderr == ""
    for file in BAD:
        assert f"fault: {file}" in printed.stdout
    for topic in ("public.sales.receipt.v1", "public.sales.refund.v1"):
        assert f"{topic}   cashier_id: removed (string)" in printed.stdout
    assert re.fullmatch(r"  2 breaks and \d+ faults in .*", printed.stdout.splitlines()[-1])
