"""The ceiling of the data folder, and the floor of what stays free."""

from pathlib import Path

import pytest

from infra import disk
from infra.disk import GIB, count_bytes, find_shortage
from infra.settings import Settings

MIB = 1024**2


def create_settings(folder: Path, **limits: float) -> Settings:
    return Settings(data_dir=folder).model_copy(update=limits)


def test_files_count_with_what_they_take_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "segment").write_bytes(b"x" * MIB)
    with (tmp_path / "index").open("wb") as sparse:
        sparse.truncate(100 * MIB)
    assert MIB <= count_bytes(tmp_path) < 2 * MIB


def test_with_room_nothing_is_said(tmp_path: Path) -> None:
    assert find_shortage(create_settings(tmp_path)) is None


def test_a_full_folder_says_how_to_allow_more(tmp_path: Path) -> None:
    (tmp_path / "segment").write_bytes(b"x" * 2 * MIB)
    message = find_shortage(create_settings(tmp_path, simulator_disk_gib_max=MIB / GIB)) or ""
    assert "make up SIMULATOR_DISK_GIB_MAX=" in message


def test_a_full_disk_says_where_to_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "FREE_GIB_MIN", 1e9)
    message = find_shortage(create_settings(tmp_path)) or ""
    assert str(tmp_path) in message
