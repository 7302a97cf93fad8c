"""Installing: what the lock names, as it pins it; from the cache alone where that holds all."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from infra.environment import INSTALLER
from infra.installer import Broken
from infra.installer.index import find_index
from infra.installer.install import Installer, link, sync
from infra.installer.install import ensure_installer as get
from tests.infra.installer.local import forget_settings, serving, write_lock, write_wheel

PROJECT = """
[project]
name = "project"
version = "1"
[build-system]
requires = []
build-backend = "builder"
backend-path = ["."]
"""
BUILDER = """
import shutil
def build_editable(folder, *_):
    return shutil.copy({wheel!r}, folder).rpartition("/")[2]
"""


@pytest.fixture(scope="module")
def uv() -> Path:
    """The pinned uv, as the machine gets it."""
    return get(INSTALLER).uv


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of packages that pip is set up for."""
    forget_settings(monkeypatch, tmp_path)
    write_wheel(tmp_path / "wheels", "one", {"one.py": "NUMBER = 1\n"})
    write_wheel(tmp_path / "wheels", "two", {"two.py": "NUMBER = 2\n"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "wheels"


@pytest.fixture
def installer(uv: Path, wheels: Path, tmp_path: Path) -> Installer:
    return Installer(uv, find_index(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    venv.EnvBuilder(symlinks=True).create(tmp_path / "venv")
    return tmp_path / "venv"


def run_python(folder: Path, code: str) -> str:
    return subprocess.check_output([str(folder / "bin" / "python"), "-c", code], text=True).strip()


def test_what_the_lock_names_is_installed_from_where_pip_would_take_it(
    installer: Installer, wheels: Path, folder: Path, tmp_path: Path
) -> None:
    pinned = write_lock(tmp_path / "lock", *wheels.iterdir())
    assert sync(installer, folder, pinned) == 2
    assert run_python(folder, "import one, two; print(one.NUMBER + two.NUMBER)") == "3"


def test_a_package_with_another_hash_is_refused(
    installer: Installer, wheels: Path, folder: Path, tmp_path: Path
) -> None:
    pinned = write_lock(tmp_path / "lock", *wheels.iterdir(), sha256="0" * 64)
    with pytest.raises(Broken, match=r"uv says\n(.|\n)*[Hh]ash"):
        sync(installer, folder, pinned)
    assert not list(folder.glob("lib/*/site-packages/one*"))


def test_a_package_without_a_hash_is_refused(
    installer: Installer, wheels: Path, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "lock").write_text("one==1\n")
    with pytest.raises(Broken, match="hash"):
        sync(installer, folder, tmp_path / "lock")


def test_a_package_that_nobody_has_says_what_to_do(
    installer: Installer, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "lock").write_text(f"three==1 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(Broken, match=r"uv says\n(.|\n)*three(.|\n)*Check the network"):
        sync(installer, folder, tmp_path / "lock")


def test_what_the_cache_holds_is_installed_without_asking_the_index(
    uv: Path, wheels: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    pinned = write_lock(tmp_path / "lock", *wheels.iterdir())
    with serving(tmp_path, *wheels.iterdir()) as (address, asked):
        monkeypatch.setenv("PIP_INDEX_URL", address)
        installer = Installer(uv, find_index(tmp_path))
        assert sync(installer, folder, pinned) == 2
        assert "/simple/one/" in asked
        asked.clear()
        venv.EnvBuilder(clear=True, symlinks=True).create(folder)
        assert sync(installer, folder, pinned) == 2
        assert asked == []


def test_a_project_is_used_where_it_lies(
    installer: Installer, folder: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    built = write_wheel(project, "project", {"project.pth": f"{project}\n"})
    (project / "builder.py").write_text(BUILDER.format(wheel=str(built)))
    (project / "pyproject.toml").write_text(PROJECT)
    link(installer, folder, project)
    (project / "written_later.py").write_text("NUMBER = 3\n")
    assert run_python(folder, "import written_later; print(written_later.NUMBER)") == "3"


def test_a_project_that_cannot_be_built_says_why(
    installer: Installer, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    with pytest.raises(Broken, match=r"uv says\n(.|\n)*builder"):
        link(installer, folder, tmp_path)


def test_the_environment_has_what_each_package_asks_for(uv: Path) -> None:
    command = [str(uv), "pip", "check", "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
