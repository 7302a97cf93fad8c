from pathlib import Path

import pytest

from infra.clock import get_wall_ms
from infra.security.tokens import ensure_tokens, list_tokens
from infra.settings import Settings
from infra.token import read_token
from ops.cli.welcome import welcome_outside


def test_outside_the_address_is_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data_dir=tmp_path)
    welcome_outside(settings, "127.0.0.1:8100")
    address, token = capsys.readouterr().out.splitlines()
    assert address.split() == ["Shop", "http://127.0.0.1:8100/"]
    assert token.split()[:2] == ["Token", read_token(settings)]


def test_a_secure_shop_shows_no_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data_dir=tmp_path, secure=True)
    ensure_tokens(settings, get_wall_ms())
    welcome_outside(settings, "127.0.0.1:8100")
    printed = capsys.readouterr().out
    assert "https://127.0.0.1:8100/" in printed
    assert "tokens" in printed
    assert not [token for token in list_tokens(settings) if token.secret in printed]
