"""A backup is of one moment, and a shop is made of a whole one or not at all."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from infra import scratch
from infra.erasures import locate_erasures, note_erasure
from infra.errors import UserError
from infra.identities import Identities
from infra.scratch import StillPublishing, lock_publishing
from infra.settings import Settings
from infra.supervisor.parts import NotLocal
from infra.wait import wait_until
from ops.backup import making
from ops.backup.making import make_backup, restore
from ops.backup.manifest import FILE, NoBackup, read_manifest
from tests.secrets import find_files

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
    monkeypatch.setattr(making, "read_promoted", lambda _: [])
    return Settings(data_dir=home)


@pytest.fixture
def anew(tmp_path: Path) -> Settings:
    """Of the shop that is made of a backup."""
    return Settings(data_dir=tmp_path / "anew")


@pytest.fixture
def writer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    command = [sys.executable, "-c", WRITES, str(settings.data_dir), *PLACES]
    with subprocess.Popen(command) as process:
        monkeypatch.setattr(making, "find_parts", lambda _: {"broker": process.pid})
        wait_until(lambda: written(settings.data_dir)[-1] > 1_000, "it writes")
        yield psutil.Process(process.pid)
        process.kill()


def written(home: Path) -> list[int]:
    files = [home / place / "file" for place in PLACES]
    return [file.stat().st_size if file.exists() else 0 for file in files]


@pytest.mark.usefixtures("writer")
def test_a_backup_is_of_one_moment(settings: Settings, tmp_path: Path) -> None:
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
    with pytest.raises(UserError, match="one has ended meanwhile"):
        make_backup(settings, tmp_path / "backup")
    with pytest.raises(NoBackup, match=f"has no {FILE}"):
        read_manifest(tmp_path / "backup")


@pytest.fixture
def source(settings: Settings, writer: psutil.Process, tmp_path: Path) -> Path:
    make_backup(settings, tmp_path / "backup")
    return tmp_path / "backup"


def test_a_shop_is_made_of_it_whole(source: Path, anew: Settings) -> None:
    home = anew.data_dir
    home.mkdir()
    made = restore(source, anew).manifest.files
    assert written(home) == written(source)
    assert {str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()} == set(made)


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("broker/file", "other", "is not as it was"),
        ("pipelines/file", None, "lacks pipelines/file"),
        (FILE, "{", "is wrong:  ?Invalid JSON"),
        (FILE, '{"format": 0}', "format Input should be 1"),
        (FILE, None, "has no backup.json"),
    ],
)
def test_of_a_backup_that_is_not_whole_no_shop_is_made(
    source: Path, anew: Settings, file: str, text: str | None, why: str
) -> None:
    if text is None:
        (source / file).unlink()
    else:
        (source / file).write_text(text)
    with pytest.raises(NoBackup, match=why):
        restore(source, anew)
    assert not anew.data_dir.exists()


@pytest.mark.parametrize(
    "name", ["../../elsewhere", "/tmp/elsewhere", "broker/../../x", "api/x", "broker", "", "."]
)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(
    source: Path, tmp_path: Path, anew: Settings, name: str
) -> None:
    (tmp_path.parent / "elsewhere").write_text("of somebody else")
    manifest = read_manifest(source)
    replace(manifest, files={**manifest.files, name: "0" * 64}).write(source)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(NoBackup, match=r"which no backup keeps|lacks broker"):
        restore(source, anew)
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("linked", ["broker", "broker/file"])
def test_a_link_out_of_the_backup_is_not_followed(
    source: Path, tmp_path: Path, anew: Settings, linked: str
) -> None:
    (source / linked).rename(tmp_path / "aside")
    (source / linked).symlink_to(tmp_path / "aside")
    before = set(tmp_path.rglob("*"))
    with pytest.raises(NoBackup, match="has a link for broker/file"):
        restore(source, anew)
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("writer")
def test_nobody_else_can_read_a_copy_at_any_time(
    settings: Settings, tmp_path: Path, anew: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is open to others while its content is written, is seen by the copier's hook."""
    secret = settings.data_dir / "security" / "key"
    secret.parent.mkdir()
    secret.write_text("secret")
    secret.chmod(0o600)
    seen: list[int] = []
    copy = shutil.copyfileobj

    def watch(read: Any, written: Any, *more: Any) -> None:
        seen.append(stat.S_IMODE(os.fstat(written.fileno()).st_mode))
        copy(read, written, *more)

    for fast in ("_USE_CP_SENDFILE", "_USE_CP_COPY_FILE_RANGE"):
        monkeypatch.setattr(shutil, fast, False, raising=False)
    monkeypatch.setattr(shutil, "copyfileobj", watch)
    make_backup(settings, tmp_path / "backup")
    restore(tmp_path / "backup", anew)
    assert set(seen) == {0o600}
    for folder in (tmp_path / "backup", anew.data_dir):
        assert stat.S_IMODE((folder / "security" / "key").stat().st_mode) == 0o600
        for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.usefixtures("writer")
def test_a_backup_waits_until_an_import_has_ended(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "PUBLISHING_SECONDS_MAX", 0.3)
    with lock_publishing(settings.data_dir), lock_publishing(settings.data_dir):
        with pytest.raises(StillPublishing, match="retail import has done so"):
            make_backup(settings, tmp_path / "backup")
        assert not (tmp_path / "backup").exists()
    make_backup(settings, tmp_path / "backup")


@pytest.fixture
def erased(settings: Settings, writer: psutil.Process, tmp_path: Path) -> Any:
    """A customer who was forgotten after the backup, in the list beside the data folder."""
    lookup = Identities(settings.data_dir)
    for customer in ("gone", "stays"):
        lookup.replace({"customer_id": customer, "card_token": f"card of {customer}"})
    lookup.save()
    make_backup(settings, tmp_path / "backup")
    erased = lookup.erase("gone", 1_000)
    assert erased is not None
    note_erasure(settings.data_dir, erased)
    lookup.close()
    return erased


def test_who_was_forgotten_after_the_backup_is_forgotten_in_what_is_made_of_it(
    settings: Settings, erased: Any, tmp_path: Path, anew: Settings
) -> None:
    unknown = restore(tmp_path / "backup", Settings(data_dir=tmp_path / "elsewhere"))
    assert (unknown.knows, unknown.erased) == (True, None)

    made = restore(tmp_path / "backup", anew, locate_erasures(settings.data_dir))
    assert made.erased == 1
    assert find_files("gone", anew.data_dir) == []
    restored = Identities(anew.data_dir)
    assert restored.find("gone") is None
    assert restored.find("stays") is not None
    assert restored.list_uncertified() == [erased]


@pytest.mark.usefixtures("erased")
def test_the_list_of_erasures_outlives_the_data_folder(
    settings: Settings, writer: psutil.Process, tmp_path: Path
) -> None:
    writer.kill()
    writer.wait(30)
    shutil.rmtree(settings.data_dir)
    assert restore(tmp_path / "backup", settings).erased == 1


def test_a_spoilt_list_of_erasures_is_said_before_writing(source: Path, anew: Settings) -> None:
    locate_erasures(anew.data_dir).write_text('{"pseudonym": "customer-1"}\n')
    with pytest.raises(UserError, match="line 1 is not"):
        restore(source, anew)
    assert not anew.data_dir.exists()


def test_nothing_is_overwritten(settings: Settings, source: Path) -> None:
    with pytest.raises(UserError, match="make reset"):
        restore(source, settings)
    with pytest.raises(UserError, match="another folder"):
        make_backup(settings, source)
    with pytest.raises(UserError, match="lost with it"):
        make_backup(settings, settings.data_dir / "backup")


def test_what_is_elsewhere_cannot_be_copied(settings: Settings, tmp_path: Path) -> None:
    elsewhere = settings.model_copy(update={"store_url": "s3a://bucket/key"})
    with pytest.raises(UserError, match="STORE_URL=s3a://bucket/key"):
        make_backup(elsewhere, tmp_path / "backup")


def test_a_shop_that_does_not_run_here_is_refused(anew: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotLocal):
        make_backup(anew, tmp_path / "backup")
