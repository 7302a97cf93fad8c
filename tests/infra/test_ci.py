"""What CI runs: every gate, in an environment and a jar folder of its own."""

import os
import subprocess

from infra.settings import root

RUN = root() / ".ci" / "run"


def test_it_can_be_run() -> None:
    assert os.access(RUN, os.X_OK)
    subprocess.run(["bash", "-n", RUN], check=True)


def test_it_runs_every_gate_with_nothing_of_an_earlier_run() -> None:
    script = RUN.read_text()
    assert "set -euo pipefail" in script
    assert "make check" in script
    assert "make test\n" in script
    assert "make test-docker\n" in script
    assert 'rm -rf "$scratch"' in script
    assert 'VENV="$scratch/venv" JARS_DIR="$scratch/jars"' in script


def test_an_engine_of_its_own_ends_with_it() -> None:
    script = RUN.read_text()
    assert 'engine="$scratch/engine"' in script
    assert "trap stop_engine EXIT" in script
