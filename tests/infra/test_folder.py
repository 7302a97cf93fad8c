"""A folder by its address."""

from pathlib import Path

import pytest

from infra.folder import Folder


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("file:///srv/the%20lake/", "/srv/the lake"),
        ("s3a://bucket/lake", "s3a://bucket/lake"),
    ],
)
def test_its_address_is_what_every_engine_takes(url: str, address: str) -> None:
    assert str(Folder.of(url)) == address
    assert str(Folder.of(url) / "bronze") == f"{address}/bronze"
    assert (Folder.of(url) / "bronze").name == "bronze"


def test_what_lies_in_it_is_named_read_counted_and_removed(tmp_path: Path) -> None:
    (tmp_path / "a log" / "deeper").mkdir(parents=True)
    (tmp_path / "a log" / "7").write_text("seven\n")
    (tmp_path / "a log" / "deeper" / "8").write_text("eight\n")
    folder = Folder.of(tmp_path.as_uri()) / "a log"
    assert sorted(folder.names()) == ["7", "deeper"]
    assert folder.read("7") == "seven\n"
    assert folder.held_bytes() == 12
    folder.remove()
    assert [one.name for one in tmp_path.iterdir()] == []


def test_where_there_is_none_there_is_nothing(tmp_path: Path) -> None:
    absent = Folder(str(tmp_path / "absent"))
    assert absent.names() == []
    assert absent.held_bytes() == 0
    absent.remove()
    with pytest.raises(FileNotFoundError):
        absent.read("7")
