"""What a program runs in: its packages, an old Python, and Java."""

import ast
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infra import bootstrap, installer, java
from infra.environment import FLINK, RETAIL, STAMP, Environment


class Made(Environment):
    """An environment whose making, which takes half a minute, is only counted."""

    def make(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / STAMP).unlink(missing_ok=True)
        with (self.folder.parent / "made").open("a") as made:
            made.write("1")
        if (self.folder.parent / "interrupt").exists():
            raise KeyboardInterrupt


@pytest.fixture
def made(tmp_path: Path) -> Made:
    (tmp_path / "tool.lock").write_text("one==1 \\\n    --hash=sha256:00\n")
    return Made(tmp_path / "tool.lock", tmp_path / "venv")


def count(made: Made) -> int:
    return len((made.folder.parent / "made").read_text())


def test_it_is_made_once_and_anew_for_another_lock_or_folder(made: Made, tmp_path: Path) -> None:
    made.ensure()
    made.ensure()
    assert count(made) == 1
    made.lock.write_text("one==2\n")
    made.ensure()
    assert count(made) == 2
    made.folder.rename(tmp_path / "moved")
    replace(made, folder=tmp_path / "moved").ensure()
    assert count(made) == 3


def test_an_interrupted_installation_is_done_again(made: Made, tmp_path: Path) -> None:
    (tmp_path / "interrupt").touch()
    with pytest.raises(KeyboardInterrupt):
        made.ensure()
    (tmp_path / "interrupt").unlink()
    made.ensure()
    made.ensure()
    assert count(made) == 2


@pytest.mark.parametrize("file", [RETAIL.lock, installer.LOCK, FLINK.lock])
def test_every_locked_package_has_a_hash_and_no_address(file: Path) -> None:
    text = file.read_text()
    packages = [part for part in text.split("\n") if part and part[0] not in " #"]
    assert all(line.endswith("\\") for line in packages)
    assert "://" not in text


def test_an_old_python_can_parse_it() -> None:
    for file in (bootstrap.__file__, Path(bootstrap.__file__).with_name("__init__.py")):
        ast.parse(Path(file).read_text(), feature_version=(3, 4))


def test_an_old_python_is_told_what_is_needed_and_what_to_do() -> None:
    message = bootstrap.explain_old_python((3, 9, 2), "/usr/bin/python3")
    assert "3.11 or newer is needed" in message
    assert "/usr/bin/python3 is 3.9.2" in message
    assert "make up PYTHON=python3.11" in message


def test_what_is_started_finds_this_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    java.use()
    launcher = f"{os.environ['JAVA_HOME']}/bin/java"
    vectors = [launcher, "--add-modules=jdk.incubator.vector", "-version"]
    answer = subprocess.run(vectors, capture_output=True, text=True, check=True)
    assert java.VERSION in answer.stderr
