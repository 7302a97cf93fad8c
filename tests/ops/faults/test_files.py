import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from infra.folder import Folder
from infra.settings import Settings, load_remembered, remember
from ops.faults.actions import PAGE_BYTES, remember_settings, scribble, tear
from ops.generations.folders import is_damaged
from pipelines.engine.checkpoint import Checkpoint

OFFSETS = 'v1\n{"batchWatermarkMs":0}\n{"public.sales.receipt.v1":{"0":25,"1":4}}'
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """As Spark leaves it when two batches are finished and the third is open."""
    for name, batches, text in (("offsets", 3, OFFSETS), ("commits", 2, COMMIT)):
        (tmp_path / name).mkdir()
        for batch in range(batches):
            (tmp_path / name / str(batch)).write_text(text)
    return Checkpoint(Folder(str(tmp_path)), tmp_path)


def test_a_whole_or_new_checkpoint_is_not_damaged(checkpoint: Checkpoint, tmp_path: Path) -> None:
    assert not is_damaged(checkpoint)
    assert not is_damaged(Checkpoint(Folder(str(tmp_path / "none")), tmp_path))


@pytest.mark.parametrize("torn", ["offsets/2", "commits/1"])
def test_a_torn_checkpoint_is_damaged(checkpoint: Checkpoint, tmp_path: Path, torn: str) -> None:
    before, after = tear(tmp_path / torn)
    assert (tmp_path / torn).stat().st_size == after == before // 2
    assert is_damaged(checkpoint)
    for length in (0, 1, 3):
        (tmp_path / torn).write_text(OFFSETS[:length])
        assert is_damaged(checkpoint)


def test_a_commit_without_its_offsets_is_damaged(checkpoint: Checkpoint, tmp_path: Path) -> None:
    (tmp_path / "commits" / "3").write_text(COMMIT)
    assert is_damaged(checkpoint)


def test_a_database_that_is_scribbled_over_is_no_more_than_its_first_page(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("create table shelf (sku text)")
        database.executemany("insert into shelf values (?)", [("SKU" * 100,)] * 1_000)
    size = file.stat().st_size
    assert scribble(file) == size - PAGE_BYTES
    assert file.stat().st_size == size
    with closing(sqlite3.connect(file)) as database, pytest.raises(sqlite3.DatabaseError):
        database.execute("select * from shelf").fetchall()


def test_other_settings_are_read_as_long_as_the_block_lasts(tmp_path: Path) -> None:
    remember(Settings(data_dir=tmp_path, simulator_seed=7))
    before = load_remembered(tmp_path)

    with suppress(KeyboardInterrupt), remember_settings(tmp_path, simulator_disk_gib_max=1e-6):
        assert Settings(data_dir=tmp_path).simulator_disk_gib_max == 1e-6
        assert Settings(data_dir=tmp_path).simulator_seed == 7
        raise KeyboardInterrupt
    assert load_remembered(tmp_path) == before
