"""How fast a candidate reads, by what it has marked."""

from pathlib import Path

from infra.folder import Folder
from ops.replay.progress import Watch
from pipelines.engine.checkpoint import Checkpoint


def test_its_rate_begins_with_its_first_batch(tmp_path: Path) -> None:
    watch = Watch(Checkpoint(Folder(str(tmp_path)), tmp_path))
    assert watch.see(read=0, now=10.0) == 0, "Spark starts"
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    looks = ((0, 30.0), (0, 31.0), (400, 35.0), (400, 39.0), (800, 40.0))
    assert [watch.see(read, now) for read, now in looks] == [0, 0, 80, 80, 80]
