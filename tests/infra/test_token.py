"""The token of a shop: drawn once, and for its owner alone."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from infra.settings import Settings
from infra.token import locate_token, read_token


def test_it_is_drawn_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with ThreadPoolExecutor() as threads:
        drawn = set(threads.map(lambda _: read_token(settings), range(20)))
    assert drawn == {read_token(settings)}
    assert len(read_token(settings)) >= 32
    assert stat.S_IMODE(locate_token(settings).stat().st_mode) == 0o600
    assert [file.name for file in settings.data_dir.iterdir()] == ["token"]
