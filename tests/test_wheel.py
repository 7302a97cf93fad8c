"""What is installed runs by itself: without the repository, and without its tests."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from infra.settings import locate_root, read_settings

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(600)]

SECONDS_MAX = 540


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that has the wheel, and the packages it depends on."""
    folder = tmp_path_factory.mktemp("installed")
    built, environment = folder / "built", folder / "environment"
    uv = [sys.executable, "-m", "infra.installer"]
    run(
        [*uv, "build", "--wheel", "--quiet", "--out-dir", str(built), str(locate_root())],
        locate_root(),
    )
    venv.create(environment, symlinks=True)
    [wheel] = built.glob("*.whl")
    python = environment / "bin" / "python"
    run(
        [*uv, "pip", "install", "--quiet", "--no-deps", "--python", str(python), str(wheel)],
        locate_root(),
    )
    [packages] = environment.glob("lib/python*/site-packages")
    # Of a folder that a path file adds, no path file is read: the repository stays out.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin"


def run(command: list[str], folder: Path, **more: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**{name: each for name, each in os.environ.items() if name != "PYTHONPATH"}, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_installed_code_runs_and_its_contracts_break_nobody(
    installed: Path, tmp_path: Path
) -> None:
    where = "import ops.cli, ops.verify; print(ops.cli.__file__, ops.verify.__file__)"
    for file in run([str(installed / "python"), "-c", where], tmp_path).split():
        assert Path(file).is_relative_to(installed.parent)
    assert "[pipeline]" in run([str(installed / "retail"), "verify", "--help"], tmp_path)
    assert "nobody breaks" in run([str(installed / "retail"), "contracts", "check"], tmp_path)


def test_a_part_of_the_bench_measures(installed: Path, tmp_path: Path) -> None:
    """It uses the jars of the environment: another test covers fetching them."""
    where = {"JARS_DIR": str(read_settings().jars_dir), "DATA_DIR": str(tmp_path / "data")}
    command = [str(installed / "retail"), "bench", "--quick", "--only", "replay"]
    assert "records/s" in run(command, tmp_path, **where)
