import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.testing import CliRunner

from infra.kafka import offsets
from infra.settings import OPERATOR, Settings, locate_root
from ops.cli.main import COMMANDS, PANELS, build_application, load_command, main
from tests.ops.cli.commands import run_command
from tests.rooms import INSTALLED


def run_in(clone: Path, *words: str, options: Sequence[str] = ()) -> "CompletedProcess[str]":
    """What the command says as the code of the clone."""
    return subprocess.run(
        [sys.executable, *options, "-m", "ops.cli.main", *words],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )


def stop_main(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr(sys, "argv", ["retail", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


def test_who_names_no_command_reads_of_all_at_once_and_waits_for_none() -> None:
    done = run_in(locate_root(), options=("-X", "importtime"))
    listed = re.findall(r"^│ (\w+)  ", done.stdout, re.MULTILINE)
    assert listed == [name for panel in PANELS.values() for name in panel]
    assert len(listed) <= 22
    assert "typer" in done.stderr
    assert not any(f"ops.cli.{place.module} " in f"{done.stderr} " for place in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert command.help


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((locate_root() / "pyproject.toml").read_text())["project"]
    assert run_command("--version").split() == [project["version"]]


def test_a_shell_completes_the_options_of_a_command() -> None:
    words = {"_RETAIL_COMPLETE": "complete_bash", "COMP_WORDS": "retail replay start --pro"}
    env = {**words, "COMP_CWORD": "3"}
    done = CliRunner().invoke(build_application(), prog_name="retail", env=env)
    assert done.output.split() == ["--promote"]


def test_an_unknown_command_is_said_and_the_nearest_one_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stop_main(monkeypatch, "verfy") == 2
    assert "No such command 'verfy'. Did you mean 'verify'?" in capsys.readouterr().err


@pytest.mark.parametrize("before", [[], ["--"]])
def test_trouble_is_said_without_a_traceback(
    current: Settings, monkeypatch: pytest.MonkeyPatch, before: list[str]
) -> None:
    there_are = (
        "There are: broker, simulator, quarantine, pipelines, ordering, markdowns, supplier, api, "
        "lake"
    )
    said = stop_main(monkeypatch, *before, "logs", "till")
    assert said == f"There is no component till. {there_are}"


def test_a_silent_broker_is_said(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "REQUEST_SECONDS_MAX", 0.2)
    words = f"Kafka does not answer on {current.bootstrap_servers}. Start it with: make up"
    assert stop_main(monkeypatch, "replay", "status") == words


def test_a_command_in_any_container_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_SERVICE", "simulator")
    assert Settings().kafka_service == "simulator"
    stop_main(monkeypatch, "logs", "--help")
    assert Settings().kafka_service == OPERATOR


BAD = ("topics/sales/receipt.v1.yaml", "topics/sales/refund.v1.yaml")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    for room in INSTALLED:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(locate_root() / room, tmp_path / room, ignore=unwanted)
    return tmp_path


@pytest.fixture
def clone(installed: Path) -> Path:
    """A copy of what is installed, in which two contracts are bad."""
    for file in BAD:
        contract = installed / "contracts" / file
        contract.write_text(
            contract.read_text().replace("name: cashier_id", "name: cashier_number", 1)
        )
    return installed


def test_every_bad_contract_is_told_without_a_traceback(clone: Path) -> None:
    """By a command that has nothing to do with contracts, too: all of them load the contracts."""
    for command in (["contracts", "plan"], ["verify"]):
        printed = run_in(clone, *command)
        assert printed.returncode == 1
        lines = printed.stderr.splitlines()
        for file in BAD:
            assert any(file in line and "cashier_id" in line for line in lines), printed.stderr
        assert all(any(file in line for file in BAD) for line in lines), printed.stderr


def test_a_contract_that_is_gone_is_named_without_a_traceback(installed: Path) -> None:
    [gone] = (installed / "contracts" / "topics").rglob("price-change.v1.yaml")
    gone.unlink()
    printed = run_in(installed, "topics", "list")
    assert printed.returncode == 1
    assert printed.stderr.startswith("expected the name of a contract, found 'public.pricing")
    assert "Traceback" not in printed.stderr


def test_the_check_says_who_breaks_by_contracts_that_do_not_load(clone: Path) -> None:
    printed = run_in(clone, "contracts", "check")
    assert (printed.returncode, printed.stderr) == (1, "")
    for file in BAD:
        assert f"fault: {file}" in printed.stdout
    for topic in ("public.sales.receipt.v1", "public.sales.refund.v1"):
        assert f"{topic}   cashier_id: removed (string)" in printed.stdout
    assert re.fullmatch(r"  4 breaks and \d+ faults in .*", printed.stdout.splitlines()[-1])
