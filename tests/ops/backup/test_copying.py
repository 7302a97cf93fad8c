import os
from pathlib import Path

import pytest

from ops.backup.copying import KEPT, Mirror, list_files

SEGMENT = Path("broker") / "log" / "topic-0" / "00000.log"
DERIVED = ("api/a.sqlite", "logs/broker.log", "run/x", "spark/y", "token", "tokens/x")
LOG = ("topic-0/00000.log", "topic-0/00000.index", "topic-0/00000.timeindex", ".lock")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data folder with a file in each of its places."""
    home = tmp_path / "data"
    for name in (*DERIVED, "settings.json", *(f"broker/log/{file}" for file in LOG)):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    return home


def test_what_cannot_be_made_anew_is_kept(source: Path) -> None:
    assert list_files(source).keys() == {SEGMENT, Path("settings.json")}
    for name in set(KEPT) - {"settings.json"}:
        (source / name).mkdir(exist_ok=True)
        (source / name / "file").write_text(name)
    assert {file.parts[0] for file in list_files(source)} == set(KEPT)


def test_an_update_copies_changes_and_forgets_what_is_gone(source: Path, tmp_path: Path) -> None:
    mirror = Mirror(source, target := tmp_path / "copy")
    assert mirror.update() == sum(size for size, _ in list_files(source).values()) > 0
    assert mirror.update() == 0
    with (source / SEGMENT).open("a") as segment:
        segment.write(" and more")
    (source / "settings.json").unlink()
    assert mirror.update() == (source / SEGMENT).stat().st_size
    assert (target / SEGMENT).read_text() == (source / SEGMENT).read_text()
    assert list_files(target).keys() == {SEGMENT}


def test_two_writes_within_one_tick_of_the_clock_are_both_in_the_last_copy(
    source: Path, tmp_path: Path
) -> None:
    mirror = Mirror(source, target := tmp_path / "copy")
    mirror.update()
    before = (source / SEGMENT).stat()
    (source / SEGMENT).write_bytes(b"x" * before.st_size)
    os.utime(source / SEGMENT, ns=(before.st_atime_ns, before.st_mtime_ns))
    mirror.update(last=True)
    assert (target / SEGMENT).read_bytes() == (source / SEGMENT).read_bytes()


def test_a_file_that_goes_while_it_is_copied_is_not_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = list_files(source)
    (source / SEGMENT).unlink()
    monkeypatch.setattr("ops.backup.copying.list_files", lambda _: there)
    Mirror(source, target := tmp_path / "copy").update()
    assert list_files(target).keys() == {Path("settings.json")}
