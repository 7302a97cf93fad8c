import json
from pathlib import Path

from infra.folder import Folder
from pipelines.engine.checkpoint import CHUNKS, Checkpoint, count_records

HEAD = 'v1\n{"batchWatermarkMs":0}\n'


def write_checkpoint(home: Path, batches: dict[int, str], finished: set[int]) -> Checkpoint:
    folder = home / "checkpoint"
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True)
    for batch, sources in batches.items():
        (folder / "offsets" / str(batch)).write_text(HEAD + sources)
    for batch in finished:
        (folder / "commits" / str(batch)).write_text("v1\n{}")
    return Checkpoint(Folder(str(folder)), home)


def test_a_batch_ends_where_its_sources_end(tmp_path: Path) -> None:
    where = write_checkpoint(tmp_path, {7: '{"sales":{"0":5,"1":9}}\n{"stock":{"0":2}}'}, set())
    assert where.read_batch_end(7) == {("sales", 0): 5, ("sales", 1): 9, ("stock", 0): 2}


def test_the_log_goes_on_where_the_files_end(tmp_path: Path) -> None:
    """Records and heartbeats are read from the same files, each with a source of the log behind."""
    files, beats = '{"logOffset":1}', '{"beats":{"0":7}}'
    sources = {0: f"{files}\n-\n{files}\n-", 1: f'{files}\n{{"sales":{{"0":9}}}}\n{files}\n{beats}'}
    where = write_checkpoint(tmp_path, sources, set())
    chunks = [{"sales": {"0": 2}, "beats": {"0": 1}}, {"sales": {"0": 5}, "beats": {"0": 3}}]
    (tmp_path / CHUNKS).parent.mkdir()
    (tmp_path / CHUNKS).write_text(json.dumps({"ends": chunks}))
    assert where.read_batch_end(0) == {("sales", 0): 5, ("beats", 0): 3}
    assert where.read_batch_end(1) == {("sales", 0): 9, ("beats", 0): 7}


def test_a_batch_reads_from_the_end_of_the_one_before(tmp_path: Path) -> None:
    sources = {0: '-\n{"stock":{"0":2}}', 1: '{"sales":{"0":5,"1":9}}\n{"stock":{"0":2}}'}
    read_end = write_checkpoint(tmp_path, sources, set()).read_batch_end
    assert (count_records(read_end, 0), count_records(read_end, 1)) == (2, 14)


def test_only_finished_batches_are_committed(tmp_path: Path) -> None:
    batches = {9: '{"sales":{"0":5}}', 10: '{"sales":{"0":6}}', 11: '{"sales":{"0":7}}'}
    assert write_checkpoint(tmp_path, batches, {9, 10}).read_committed() == {("sales", 0): 6}


def test_nothing_is_committed_before_the_first_batch(tmp_path: Path) -> None:
    absent = Checkpoint(Folder(str(tmp_path / "not-there-yet")), tmp_path)
    assert absent.read_committed() == {}
    assert absent.find_open_batch() == -1


def test_a_batch_is_open_from_its_offsets_to_its_commit(tmp_path: Path) -> None:
    assert write_checkpoint(tmp_path, {9: "-", 10: "-"}, {9}).find_open_batch() == 10
