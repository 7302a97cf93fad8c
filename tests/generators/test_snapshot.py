import os
from pathlib import Path

import pytest

from generators.resume import Snapshots

LOG = {"sales": [100, 100]}


def create_state(tick: int, count: int = 0) -> dict[str, object]:
    return {"next_tick": tick, "counts": {"sales": [count, 0]}}


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path, "a world")


def test_the_newest_state_is_taken_up(snapshots: Snapshots) -> None:
    snapshots.save(create_state(240))
    snapshots.save(create_state(480))
    assert snapshots.find_newest(LOG) == create_state(480)


def test_a_state_ahead_of_the_log_gives_way_to_the_one_before(snapshots: Snapshots) -> None:
    snapshots.save(create_state(240, count=100))
    snapshots.save(create_state(480, count=101))
    assert snapshots.find_newest(LOG) == create_state(240, count=100)


def test_the_last_two_are_kept(snapshots: Snapshots, tmp_path: Path) -> None:
    for tick in (240, 480, 720, 960):
        snapshots.save(create_state(tick))
    assert len(list(tmp_path.iterdir())) == 2
    assert snapshots.find_newest(LOG) == create_state(960)


def test_another_world_s_state_is_not_read(tmp_path: Path) -> None:
    Snapshots(tmp_path, "a world").save(create_state(240))
    assert Snapshots(tmp_path, "another world").find_newest(LOG) is None


def test_a_crash_while_writing_leaves_the_states_before(
    snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.save(create_state(240))

    def crash(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="no space left"):
        snapshots.save(create_state(480))
    assert snapshots.find_newest(LOG) == create_state(240)


def test_a_broken_state_gives_way_to_the_one_before(snapshots: Snapshots, tmp_path: Path) -> None:
    snapshots.save(create_state(240))
    snapshots.save(create_state(480))
    newest = max(tmp_path.iterdir())
    newest.write_text(newest.read_text()[:-5])
    assert snapshots.find_newest(LOG) == create_state(240)


def test_without_a_state_the_world_begins_at_its_start(tmp_path: Path) -> None:
    assert Snapshots(tmp_path / "absent", "a world").find_newest(LOG) is None
