"""A password for each service: drawn once, and for its owner alone."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.security.passwords import draw_password, locate_password, read_password
from infra.settings import Settings


def test_it_is_drawn_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with ThreadPoolExecutor() as threads:
        drawn = set(threads.map(lambda _: draw_password(settings, "api"), range(20)))
    assert drawn == {read_password(settings, "api")}
    assert len(read_password(settings, "api")) >= 32
    file = locate_password(settings, "api")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [one.name for one in file.parent.iterdir()] == ["api.properties"]


def test_who_has_none_is_told_who_draws_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"password of api.*make up SECURE=on"):
        read_password(Settings(data_dir=tmp_path), "api")
