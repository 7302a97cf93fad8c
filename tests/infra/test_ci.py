"""What CI runs: every gate, in an environment and a jar folder of its own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from infra.settings import locate_root

RUN = locate_root() / ".ci" / "run"
CONTAINERS = locate_root() / ".ci" / "containers"


@pytest.mark.parametrize("script", [RUN, CONTAINERS], ids=lambda one: one.name)
def test_it_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


def test_it_runs_every_gate_with_nothing_of_an_earlier_run() -> None:
    script = RUN.read_text()
    assert "set -euo pipefail" in script
    assert "make check" in script
    assert "make test\n" in script
    assert "timed containers .ci/containers\n" in script
    assert 'rm -rf "$scratch"' in script
    assert 'VENV="$scratch/venv" JARS_DIR="$scratch/jars"' in script


def test_without_an_engine_it_says_what_was_not_tested(tmp_path: Path) -> None:
    folder = tmp_path / ".ci"
    folder.mkdir()
    shutil.copy(CONTAINERS, folder)
    nothing = {
        "PATH": os.environ["PATH"],
        "DOCKER_HOST": f"unix://{tmp_path}/nobody",
        "CONTAINER_ENGINE_SCRIPT": "/bin/false",
    }
    output = subprocess.run(
        [folder / CONTAINERS.name], env=nothing, capture_output=True, text=True, check=True
    )
    assert "the containers are NOT tested" in output.stdout


def test_an_engine_of_its_own_ends_with_it() -> None:
    script = CONTAINERS.read_text()
    assert "\nmake test-docker\n" in script
    assert 'engine="$scratch/engine"' in script
    assert "trap stop_engine EXIT" in script
