"""A view of one's own, made as the README tells it, in a copy of the project."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.processes import build_environment
from infra.settings import Settings, locate_root, read_settings
from tests.guide import Reader, read_blocks
from tests.rooms import ROOMS

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(420)]

GUIDE = locate_root() / "pipelines" / "analytics" / "README.md"

VIEW = "public.analytics.hourly-return.v1"
JUDGE = "tests/pipelines/test_drawn.py::test_each_view_of_a_drawn_timeline_is_its_oracles"
SECONDS_MAX = 300


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy, to be changed."""
    copy = tmp_path / "project"
    for room in ROOMS:
        shutil.copytree(
            locate_root() / room, copy / room, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ("pyproject.toml", "README.md", "Makefile"):
        shutil.copyfile(locate_root() / file, copy / file)
    return copy


def test_whoever_follows_the_guide_has_a_view_that_its_oracle_confirms(
    project: Path, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", jars_dir=read_settings().jars_dir)
    reader = Reader(settings, project, project)
    *_, last = [reader.shell(block) for block in read_blocks(GUIDE)["sh"]]
    assert f"1.0.0         {VIEW}" in last
    judged = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"{JUDGE}[analytics]"],
        cwd=project,
        env=build_environment(settings, project),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "1 passed" in judged.stdout
