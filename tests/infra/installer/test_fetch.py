"""Fetching the installer: as its lock pins it, or not there."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from infra.installer import Broken, pip
from infra.installer import fetch as fetching
from infra.installer.install import ensure_installer
from tests.infra.installer.local import forget_settings, write_lock, write_wheel

PROGRAM = {"uv-1.data/scripts/uv": "#!/bin/sh\necho installed\n"}


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The wheel of a small uv, which is all that pip finds; pinned."""
    forget_settings(monkeypatch, tmp_path)
    wheel = write_wheel(tmp_path / "wheels", "uv", PROGRAM)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setattr(fetching, "LOCK", write_lock(tmp_path / "installer.lock", wheel))
    return wheel


def test_it_can_be_run(packed: Path, tmp_path: Path) -> None:
    uv = ensure_installer(tmp_path / "installer").uv
    assert subprocess.check_output([uv], text=True) == "installed\n"


def test_it_is_fetched_once(packed: Path, tmp_path: Path) -> None:
    first = ensure_installer(tmp_path / "installer").uv
    packed.unlink()
    assert ensure_installer(tmp_path / "installer").uv == first


def test_another_pin_is_fetched_beside_it(packed: Path, tmp_path: Path) -> None:
    first = ensure_installer(tmp_path / "installer").uv
    write_lock(fetching.LOCK, write_wheel(tmp_path / "wheels", "uv", {**PROGRAM, "other.py": ""}))
    assert ensure_installer(tmp_path / "installer").uv != first


def test_one_with_another_hash_is_refused(packed: Path, tmp_path: Path) -> None:
    write_lock(fetching.LOCK, packed, sha256="0" * 64)
    with pytest.raises(Broken, match=r"pip says\n(.|\n)*DO NOT MATCH THE HASHES"):
        ensure_installer(tmp_path / "installer")
    assert [file for file in (tmp_path / "installer").rglob("*") if file.is_file()] == []


def test_where_installing_outside_of_an_environment_is_forbidden_it_is_fetched_all_the_same(
    packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    assert ensure_installer(tmp_path / "installer").uv.exists()


def test_a_python_without_pip_uses_the_one_it_brings(
    packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert pip.build_command(tmp_path)[0] != sys.executable
    assert "pip" in pip.run(["--version"], tmp_path)


def test_a_missing_module_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(Broken, match=r"ensurepip is missing.\n.*python3\.\d+-venv"):
        pip.build_command(tmp_path)
