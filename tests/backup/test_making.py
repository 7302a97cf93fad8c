"""A backup is of one moment, and a shop is made of a whole one or not at all."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from backup import making
from backup.making import Elsewhere, Ended, NotEmpty, make_backup, restore
from backup.manifest import FILE, NoBackup, read_manifest
from infra.settings import Settings
from infra.supervisor.parts import NotLocal
from infra.wait import wait_until

WRITES = """
import os, sys
files = [open(os.path.join(sys.argv[1], name, "file"), "ab", buffering=0) for name in sys.argv[2:]]
while True:
    for file in files:
        file.write(b".")
"""
PLACES = ("broker", "pipelines")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of a shop whose only process writes to the log, then to a checkpoint, without a rest."""
    home = tmp_path / "data"
    for place in PLACES:
        (home / place).mkdir(parents=True)
    monkeypatch.setattr(making, "refuse_elsewhere", lambda _: None)
    monkeypatch.setattr(making, "read_generations", lambda _: {})
    return Settings(data_dir=home)


@pytest.fixture
def writer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    command = [sys.executable, "-c", WRITES, str(settings.data_dir), *PLACES]
    with subprocess.Popen(command) as process:
        monkeypatch.setattr(making, "find_parts", lambda _: {"broker": process.pid})
        wait_until(lambda: written(settings.data_dir)[-1] > 1_000, "it writes")
        yield psutil.Process(process.pid)
        process.kill()


def written(home: Path) -> list[int]:
    return [
        file.stat().st_size if (file := home / place / "file").exists() else 0 for place in PLACES
    ]


def test_a_backup_is_of_one_moment(
    settings: Settings, writer: psutil.Process, tmp_path: Path
) -> None:
    for number in range(5):
        target = tmp_path / f"backup-{number}"
        made = make_backup(settings, target)
        log, checkpoint = written(target)
        assert log - checkpoint in (0, 1)
        assert made.files.keys() == {f"{place}/file" for place in PLACES}
        assert made == read_manifest(target)
    before = written(settings.data_dir)
    wait_until(lambda: written(settings.data_dir) > before, "it goes on")


def test_a_process_that_ends_meanwhile_leaves_no_backup(
    settings: Settings, writer: psutil.Process, tmp_path: Path
) -> None:
    writer.kill()
    writer.wait(30)
    with pytest.raises(Ended):
        make_backup(settings, tmp_path / "backup")
    with pytest.raises(NoBackup, match=f"has no {FILE}"):
        read_manifest(tmp_path / "backup")


@pytest.fixture
def source(settings: Settings, writer: psutil.Process, tmp_path: Path) -> Path:
    make_backup(settings, tmp_path / "backup")
    return tmp_path / "backup"


def test_a_shop_is_made_of_it_whole(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "anew"
    home.mkdir()
    made = restore(source, Settings(data_dir=home))
    assert written(home) == written(source)
    assert {str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()} == set(
        made.files
    )


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda source: (source / "broker" / "file").write_bytes(b"other"), "is not as it was"),
        (lambda source: (source / "pipelines" / "file").unlink(), "lacks pipelines/file"),
        (lambda source: (source / FILE).write_text("{"), "does not parse"),
        (lambda source: (source / FILE).write_text('{"format": 0}'), "is of format 0"),
        (lambda source: (source / FILE).unlink(), "has no backup.json"),
    ],
)
def test_of_a_backup_that_is_not_whole_no_shop_is_made(
    source: Path, tmp_path: Path, harm: Any, why: str
) -> None:
    harm(source)
    home = tmp_path / "anew"
    with pytest.raises(NoBackup, match=why):
        restore(source, Settings(data_dir=home))
    assert not home.exists()


def test_nothing_is_overwritten(
    settings: Settings, source: Path, writer: psutil.Process, tmp_path: Path
) -> None:
    with pytest.raises(NotEmpty, match="make reset"):
        restore(source, settings)
    with pytest.raises(NotEmpty, match="another folder"):
        make_backup(settings, source)
    with pytest.raises(NotEmpty, match="lost with it"):
        make_backup(settings, settings.data_dir / "backup")


@pytest.mark.parametrize("name", ["checkpoint_url", "lake_url"])
def test_what_is_elsewhere_cannot_be_copied(settings: Settings, tmp_path: Path, name: str) -> None:
    elsewhere = settings.model_copy(update={name: "s3a://bucket/key"})
    with pytest.raises(Elsewhere, match=f"{name.upper()}=s3a://bucket/key"):
        make_backup(elsewhere, tmp_path / "backup")


def test_a_shop_that_does_not_run_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotLocal):
        make_backup(Settings(data_dir=tmp_path / "none"), tmp_path / "backup")
