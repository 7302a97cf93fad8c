from pathlib import Path

import pytest

from infra import disk
from infra.disk import GIB, count_bytes, find_shortage
from infra.settings import Settings

MIB = 1024**2


def test_files_count_with_what_they_take_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "segment").write_bytes(b"x" * MIB)
    with (tmp_path / "index").open("wb") as sparse:
        sparse.truncate(100 * MIB)
    assert MIB <= count_bytes(tmp_path) < 2 * MIB


def test_a_full_folder_or_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=tmp_path)
    assert find_shortage(settings) is None
    (tmp_path / "segment").write_bytes(b"x" * 2 * MIB)
    full = settings.model_copy(update={"simulator_disk_gib_max": MIB / GIB})
    assert "make up SIMULATOR_DISK_GIB_MAX=" in (find_shortage(full) or "")
    monkeypatch.setattr(disk, "FREE_GIB_MIN", 1e9)
    assert str(tmp_path) in (find_shortage(settings) or "")
