"""The command line itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import COMMANDS, build_application, build_overview, main
from infra.kafka import offsets
from infra.settings import OPERATOR, Settings, locate_root
from tests.rooms import INSTALLED

VERBS = (
    "up",
    "backfill",
    "down",
    "status",
    "logs",
    "reset",
    "doctor",
    "topics",
    "load",
    "contracts",
    "quarantine",
    "verify",
)


def test_help_names_every_verb() -> None:
    printed = CliRunner().invoke(build_application(), ["--help"]).output
    assert all(f" {verb} " in printed for verb in VERBS)


def test_who_names_no_command_reads_the_same_help() -> None:
    helps = [CliRunner().invoke(app(), ["--help"]) for app in (build_overview, build_application)]
    overview, whole = (sorted(each.output.splitlines()) for each in helps)
    assert overview == whole


def test_who_names_no_command_does_not_wait_until_all_are_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "cli.main"],
        env={**os.environ, "PYTHONPATH": str(locate_root())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Start everything" in done.stdout
    assert "typer" in done.stderr
    assert not any(f"cli.{place.partition(':')[0]}" in done.stderr for place in COMMANDS.values())


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


def test_every_bad_contract_is_told_without_a_traceback(tmp_path: Path) -> None:
    """By a command that has nothing to do with contracts, too: all of them load the contracts."""
    for room in INSTALLED:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(locate_root() / room, tmp_path / room, ignore=unwanted)
    files = ("topics/sales/receipt.v1.yaml", "topics/sales/refund.v1.yaml")
    for file in files:
        contract = tmp_path / "contracts" / file
        contract.write_text(contract.read_text().replace("name: cashier_id", "name: Cashier", 1))
    for command in (["contracts", "check"], ["verify"]):
        printed = subprocess.run(
            [sys.executable, "-m", "cli.main", *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert printed.returncode == 1
        lines = printed.stderr.splitlines()
        assert len(lines) == len(files), printed.stderr
        for file, line in zip(files, lines, strict=True):
            assert file in line
            assert "Cashier" in line
