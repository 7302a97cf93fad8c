import stat
from functools import partial
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.security.tokens import list_tokens
from infra.settings import Settings
from ops.cli import security
from tests.ops.cli.commands import run_command

run = partial(run_command, "security")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    found = Settings(data_dir=tmp_path, secure=True)
    monkeypatch.setattr(security, "read_settings", lambda: found)
    return found


def test_a_shop_that_is_not_secure_has_no_tokens(current: Settings) -> None:
    with pytest.raises(UserError, match="make up SECURE=on"):
        run("token", "list")


def test_a_token_is_drawn_listed_and_forgotten_and_never_shown(shop: Settings) -> None:
    shown = run("token", "add", "grafana", "--role", "reader", "--days", "7")
    [token] = list_tokens(shop)
    listed = run("token", "list")
    assert "grafana.json" in shown
    assert "grafana" in listed
    assert "reader" in listed
    assert token.secret not in shown + listed
    run("token", "remove", "grafana")
    assert list_tokens(shop) == []


def test_curl_gets_a_token_in_a_file_that_only_its_owner_can_read(
    shop: Settings, tmp_path: Path
) -> None:
    run("token", "add", "me", "--role", "reader")
    [token] = list_tokens(shop)
    shown = run("token", "curl", "me", str(tmp_path / "my curl"))
    file = tmp_path / "my curl" / ".curlrc"
    assert token.secret in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"export CURL_HOME='{file.parent}'" in shown
    assert token.secret not in shown
    with pytest.raises(UserError, match="one of me, found 'you'"):
        run("token", "curl", "you", str(tmp_path))
