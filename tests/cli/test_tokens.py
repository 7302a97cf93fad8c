"""retail token: drawn into a file that is named, listed, and forgotten; never shown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import tokens
from cli.main import build_application
from infra.security.tokens import list_tokens
from infra.settings import Settings


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    found = Settings(data_dir=tmp_path, secure=True)
    monkeypatch.setattr(tokens, "read_settings", lambda: found)
    return found


def run(*words: str) -> str:
    done = CliRunner().invoke(
        build_application(["token"]), ["token", *words], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return done.output


def test_a_token_is_drawn_listed_and_forgotten_and_never_shown(shop: Settings) -> None:
    shown = run("add", "grafana", "--role", "reader", "--days", "7")
    [token] = list_tokens(shop)
    listed = run("list")
    assert "grafana.json" in shown
    assert "grafana" in listed
    assert "reader" in listed
    assert token.secret not in shown + listed
    run("remove", "grafana")
    assert list_tokens(shop) == []


def test_without_the_secure_profile_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "read_settings", lambda: Settings(data_dir=tmp_path))
    with pytest.raises(tokens.NotSecure, match="SECURE=on"):
        run("list")
