import hashlib
import importlib.util
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from infra import installer
from infra.installer import (
    Broken,
    Installer,
    build_pip_command,
    ensure_installer,
    find_index,
    run_pip,
    translate,
)

PROGRAM = {"uv-1.data/scripts/uv": "#!/bin/sh\necho installed\n"}
MIRROR = "https://me:secret@mirror.example/simple"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the settings of pip and uv in the environment, and use caches of the test's own."""
    for name in os.environ:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # of the files, pip reads none then
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))


def write_wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A package of version 1, which any Python takes."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-1.dist-info"
    members = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in members)
    file = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as packed:
        for path, text in {**members, f"{about}/RECORD": f"{record}{about}/RECORD,,\n"}.items():
            packed.writestr(path, text)
    return file


def write_lock(file: Path, *wheels: Path, sha256: str = "") -> Path:
    """A lock file that pins the wheels by their hashes, or by another one."""
    lines = []
    for wheel in wheels:
        pinned = sha256 or hashlib.sha256(wheel.read_bytes()).hexdigest()
        lines.append(f"{wheel.name.split('-')[0]}==1 \\\n    --hash=sha256:{pinned}\n")
    file.write_text("".join(lines))
    return file


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for the only packages that pip finds."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "wheels"


@pytest.fixture
def packed(wheels: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The wheel of a small uv; pinned."""
    wheel = write_wheel(wheels, "uv", PROGRAM)
    monkeypatch.setattr(installer, "LOCK", write_lock(tmp_path / "installer.lock", wheel))
    return wheel


def test_it_can_be_run_also_where_installing_outside_of_an_environment_is_forbidden(
    packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    uv = ensure_installer(tmp_path / "installer").uv
    assert subprocess.check_output([uv], text=True) == "installed\n"


def test_one_with_another_hash_is_refused(packed: Path, tmp_path: Path) -> None:
    write_lock(installer.LOCK, packed, sha256="0" * 64)
    with pytest.raises(Broken, match=r"pip says\n(.|\n)*DO NOT MATCH THE HASHES"):
        ensure_installer(tmp_path / "installer")
    assert [file for file in (tmp_path / "installer").rglob("*") if file.is_file()] == []


def test_a_python_without_pip_uses_the_one_it_brings(
    packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert build_pip_command(tmp_path)[0] != sys.executable
    assert "pip" in run_pip(["--version"], tmp_path)


def test_a_missing_module_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(Broken, match=r"ensurepip is missing.\n.*python3\.\d+-venv"):
        build_pip_command(tmp_path)


def test_the_index_of_pip_is_uvs_and_its_variable_counts_more_than_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://other.example/simple\ntimeout = 90\n"
    )
    monkeypatch.setenv("PIP_INDEX_URL", MIRROR)
    variables, _ = find_index(tmp_path)
    assert (variables["UV_INDEX_URL"], variables["UV_HTTP_TIMEOUT"]) == (MIRROR, "90")


def test_the_index_is_asked_as_pip_asks_it(tmp_path: Path) -> None:
    more, _ = translate({"extra-index-url": "\nhttps://a.example/\nhttps://b.example/"})
    both = "https://a.example/ https://b.example/"
    assert more == {"UV_EXTRA_INDEX_URL": both, "UV_INDEX_STRATEGY": "unsafe-best-match"}
    links, _ = translate({"find-links": f"{tmp_path}/nothing {tmp_path} https://a.example/"})
    assert links == {"UV_FIND_LINKS": f"{tmp_path},https://a.example/"}
    assert translate({"no-index": "true"}) == ({}, ["--no-index"])
    assert translate({"no-index": "false"}) == ({}, [])


def test_a_variable_of_uv_counts_more_than_one_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example/simple")
    uv = Installer(Path("uv"), *translate({"index-url": MIRROR, "timeout": "90"}))
    assert uv.environment()["UV_INDEX_URL"] == "https://other.example/simple"
    assert uv.environment()["UV_HTTP_TIMEOUT"] == "90"
    assert "secret" not in " ".join(uv.command("pip", "sync"))  # everybody can read arguments


@pytest.fixture(scope="module")
def uv() -> Path:
    return ensure_installer().uv


@pytest.fixture
def pip_like(uv: Path, wheels: Path, tmp_path: Path) -> Installer:
    """The installer with the index of pip, which has two packages."""
    for number, name in enumerate(("one", "two"), start=1):
        write_wheel(wheels, name, {f"{name}.py": f"NUMBER = {number}\n"})
    return Installer(uv, *find_index(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    venv.EnvBuilder(symlinks=True).create(tmp_path / "venv")
    return tmp_path / "venv"


def run_python(folder: Path, code: str) -> str:
    return subprocess.check_output([str(folder / "bin" / "python"), "-c", code], text=True).strip()


def test_what_the_lock_names_is_installed_from_where_pip_would_take_it(
    pip_like: Installer, wheels: Path, folder: Path, tmp_path: Path
) -> None:
    pinned = write_lock(tmp_path / "lock", *wheels.iterdir())
    assert pip_like.sync(folder, pinned) == 2
    assert run_python(folder, "import one, two; print(one.NUMBER + two.NUMBER)") == "3"


@pytest.mark.parametrize("pinned", [f"one==1 --hash=sha256:{'0' * 64}\n", "one==1\n"])
def test_a_package_with_another_hash_or_with_none_is_refused(
    pip_like: Installer, folder: Path, tmp_path: Path, pinned: str
) -> None:
    (tmp_path / "lock").write_text(pinned)
    with pytest.raises(Broken, match=r"uv says\n(.|\n)*[Hh]ash(.|\n)*Check the network"):
        pip_like.sync(folder, tmp_path / "lock")
    assert not list(folder.glob("lib/*/site-packages/one*"))


def test_the_environment_has_what_each_package_asks_for(uv: Path) -> None:
    command = [str(uv), "pip", "check", "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
