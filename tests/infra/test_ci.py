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
