import os
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infra.settings import locate_root
from ops.cli.main import build_application

MAKEFILE = (locate_root() / "Makefile").read_text()
VERBS_MAX = 23


def make(*arguments: str, folder: Path | None = None) -> str:
    env = {name: value for name, value in os.environ.items() if name != "VENV"}
    command, folder = ["make", *arguments], folder or locate_root()
    return subprocess.check_output(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def test_help_lists_every_target_once() -> None:
    listed = re.findall(r"^  make (\S+)", make("help"), flags=re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE)
    assert listed == targets
    assert len(listed) <= VERBS_MAX


def test_every_command_it_calls_exists() -> None:
    called = set(re.findall(r"\$\(RETAIL\) (\S+)", MAKEFILE))
    assert called
    for command in called:
        assert CliRunner().invoke(build_application(), [command, "--help"]).exit_code == 0, command


def test_a_folder_may_have_a_space_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "my shop"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    output = make("--dry-run", "up", folder=folder)
    assert f'VENV="{folder}/.venv" python3 -m infra.bootstrap' in output
    assert f'"{folder}/.venv/bin"/retail up' in output


DOCKER = """#!/bin/sh
case "$*" in
  *" port api 8000") echo 127.0.0.1:8100 ;;
  *" exec -T api python -m ops.cli.welcome "*) for last; do :; done; echo "welcome at $last" ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "docker"
    program.write_text(DOCKER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize("chosen", [(), ("SECURE=on",), ("SECURE=off", "PROFILE=cluster")])
def test_containers_end_with_the_address_at_which_they_are_found(chosen: tuple[str, ...]) -> None:
    assert make("up-docker", *chosen).splitlines()[-1] == "welcome at 127.0.0.1:8100"


@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize("beside", ["PROFILE=cluster", "OBSERVE=on"])
def test_what_containers_would_not_protect_is_refused_before_images_are_built(beside: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        make("up-docker", "SECURE=on", beside)
    [said] = refused.value.output.splitlines()
    assert beside in said
    assert said.endswith("docs/security.md")
