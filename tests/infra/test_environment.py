"""The environment: complete and as the lock says, or made anew."""

from pathlib import Path

import pytest

from infra import environment
from infra.flink import FLINK
from infra.installer.fetch import LOCK as INSTALLER_LOCK
from infra.linter import LINTER
from infra.separate import SeparateEnvironment


class Maker:
    """Stands for the making, which takes half a minute."""

    def __init__(self, fails: bool = False) -> None:
        self.made = 0
        self.fails = fails

    def __call__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / environment.STAMP).unlink(missing_ok=True)
        self.made += 1
        if self.fails:
            raise KeyboardInterrupt


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A lock file of one's own."""
    file = tmp_path / "retail.lock"
    file.write_text("one==1 \\\n    --hash=sha256:00\ntwo==2 \\\n    --hash=sha256:00\n")
    monkeypatch.setattr(environment, "LOCK", file)
    return file


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch, lock: Path) -> Maker:
    made = Maker()
    monkeypatch.setattr(environment, "make", made)
    return made


def test_a_changed_lock_makes_it_anew(maker: Maker, lock: Path, tmp_path: Path) -> None:
    environment.ensure(tmp_path / "venv")
    lock.write_text("one==2\n")
    environment.ensure(tmp_path / "venv")
    assert maker.made == 2


def test_a_moved_folder_makes_it_anew(maker: Maker, tmp_path: Path) -> None:
    environment.ensure(tmp_path / "venv")
    (tmp_path / "venv").rename(tmp_path / "moved")
    environment.ensure(tmp_path / "moved")
    assert maker.made == 2


def test_an_interrupted_installation_is_done_again(maker: Maker, tmp_path: Path) -> None:
    maker.fails = True
    with pytest.raises(KeyboardInterrupt):
        environment.ensure(tmp_path / "venv")
    maker.fails = False
    environment.ensure(tmp_path / "venv")
    environment.ensure(tmp_path / "venv")
    assert maker.made == 2


def test_a_separate_environment_is_made_once_and_anew_for_another_lock(
    monkeypatch: pytest.MonkeyPatch, lock: Path, tmp_path: Path
) -> None:
    made, separate = Maker(), SeparateEnvironment("tool", "a tool")
    monkeypatch.setattr(SeparateEnvironment, "make", lambda _, folder: made(folder))
    monkeypatch.setattr(SeparateEnvironment, "lock", lock)
    separate.ensure(tmp_path / "tool")
    separate.ensure(tmp_path / "tool")
    assert made.made == 1
    lock.write_text("one==2\n")
    separate.ensure(tmp_path / "tool")
    assert made.made == 2


def test_the_linters_settings_are_no_reason_to_make_it_anew() -> None:
    assert b"ruff" not in environment.read_entry_points()


@pytest.mark.parametrize(
    "file",
    [environment.LOCK, INSTALLER_LOCK, LINTER.lock, FLINK.lock],
    ids=lambda file: file.name,
)
def test_every_locked_package_has_a_hash_and_no_address(file: Path) -> None:
    text = file.read_text()
    packages = [part for part in text.split("\n") if part and part[0] not in " #"]
    assert all(line.endswith("\\") for line in packages)
    assert "://" not in text
