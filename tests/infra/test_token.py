import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.security.passwords import draw_password, locate_password, read_password
from infra.settings import Settings
from infra.token import locate_token, read_token


@pytest.mark.parametrize(
    ("draw", "locate"),
    [
        (read_token, locate_token),
        (partial(draw_password, service="api"), partial(locate_password, service="api")),
    ],
)
def test_it_is_drawn_once_and_only_its_owner_can_read_it(
    draw: Callable[[Settings], str], locate: Callable[[Settings], Path], tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    with ThreadPoolExecutor() as threads:
        drawn = set(threads.map(lambda _: draw(settings), range(20)))
    assert drawn == {draw(settings)}
    assert len(draw(settings)) >= 32
    file = locate(settings)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_folder_of_passwords_is_its_owners_and_who_has_none_is_told(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with pytest.raises(UserError, match=r"password of api.*make up SECURE=on"):
        read_password(settings, "api")
    draw_password(settings, "api")
    assert stat.S_IMODE(locate_password(settings, "api").parent.stat().st_mode) == 0o700
