import json
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.security.tokens import (
    DAY_MS,
    TOKENS_MAX,
    Role,
    add_token,
    ensure_tokens,
    list_tokens,
    locate_token,
    locate_token_folder,
    read_own,
    remove_token,
)
from infra.settings import Settings

NOW_MS = 1_795_600_000_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


def test_a_token_is_valid_until_its_end_and_only_its_owner_can_read_its_file(
    settings: Settings,
) -> None:
    token = add_token(settings, "grafana", Role.READER, NOW_MS, days=7)
    file = locate_token(settings, "grafana")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(token.secret) >= 32
    assert token.secret not in repr(token)
    assert list_tokens(settings) == [token]
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    end_ms = NOW_MS + 7 * DAY_MS
    expired = [token.is_expired(at_ms) for at_ms in (end_ms - 1, end_ms, end_ms + 1)]
    assert expired == [False, True, True]


def test_a_role_may_do_its_own_and_an_operator_all() -> None:
    may = {(role.value, needed.value) for role in Role for needed in Role if role.may(needed)}
    own = {("reader", "reader"), ("publisher", "publisher")}
    assert may == own | {("operator", needed.value) for needed in Role}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_read_holds_no_token(settings: Settings, mode: int) -> None:
    add_token(settings, "grafana", Role.READER, NOW_MS, days=7)
    locate_token(settings, "grafana").chmod(mode)
    assert list_tokens(settings) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"role": "king"}', "{}"])
def test_a_file_that_does_not_parse_holds_no_token(settings: Settings, text: str) -> None:
    kept = add_token(settings, "grafana", Role.READER, NOW_MS, days=7)
    add_token(settings, "torn", Role.READER, NOW_MS, days=7)
    locate_token(settings, "torn").write_text(text)
    assert list_tokens(settings) == [kept]


def test_the_shop_draws_its_own_and_those_that_are_over_anew(settings: Settings) -> None:
    assert read_own(settings) is None
    ensure_tokens(settings, NOW_MS)
    first = {token.name: token for token in list_tokens(settings)}
    assert {name: token.role for name, token in first.items()} == {
        role.value: role for role in Role
    }
    assert read_own(settings) == first["operator"].secret
    add_token(settings, "reader", Role.READER, NOW_MS, days=90)
    ensure_tokens(settings, NOW_MS + 30 * DAY_MS - 1)
    assert read_own(settings) == first["operator"].secret
    kept = next(token for token in list_tokens(settings) if token.name == "reader")
    ensure_tokens(settings, NOW_MS + 30 * DAY_MS)
    assert read_own(settings) != first["operator"].secret
    assert kept in list_tokens(settings)


@pytest.mark.parametrize("name", ["", "A", "a/b", "../a", "1a", "a" * 65, "nobody", "a\n"])
def test_a_name_is_one_of_a_file_and_not_that_of_nobody(settings: Settings, name: str) -> None:
    with pytest.raises(UserError, match="found"):
        add_token(settings, name, Role.READER, NOW_MS, days=7)
    assert not settings.data_dir.exists()


def test_who_is_removed_is_unknown_and_who_is_unknown_cannot_be(settings: Settings) -> None:
    add_token(settings, "grafana", Role.READER, NOW_MS, days=7)
    remove_token(settings, "grafana")
    assert list_tokens(settings) == []
    with pytest.raises(UserError, match="no token, found 'grafana'"):
        remove_token(settings, "grafana")


@pytest.mark.parametrize("more", [0, 1, 10])
def test_a_shop_has_so_many_tokens_and_no_more(settings: Settings, more: int) -> None:
    add_token(settings, "first", Role.READER, NOW_MS, days=7)
    content = json.dumps({"role": "reader", "expires_at_ms": NOW_MS, "token": "x"})
    for number in range(TOKENS_MAX - 2 + more):
        file = locate_token_folder(settings) / f"more-{number}.json"
        file.write_text(content)
        file.chmod(0o600)
    refused = pytest.raises(UserError, match="retail security token remove")
    with refused if more else nullcontext():
        add_token(settings, "last", Role.READER, NOW_MS, days=7)
    add_token(settings, "first", Role.OPERATOR, NOW_MS, days=7)  # in place of the earlier one
