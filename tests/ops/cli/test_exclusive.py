"""One command at a time."""

from pathlib import Path

import pytest

from ops.cli.exclusive import Busy, lock_home


def test_a_second_command_is_told_to_wait(tmp_path: Path) -> None:
    with lock_home(tmp_path), pytest.raises(Busy, match="Wait for it to end"), lock_home(tmp_path):
        pass


def test_afterwards_the_folder_is_free_and_unchanged(tmp_path: Path) -> None:
    with lock_home(tmp_path):
        pass
    with lock_home(tmp_path):
        assert list(tmp_path.iterdir()) == []
