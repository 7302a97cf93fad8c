"""Tokens for the API of a secure shop: each in a file of its own, with a role and an end."""

import json
import re
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from infra.errors import UserError
from infra.security.files import make_folder, replace
from infra.settings import Settings

BYTES = 24
TOKENS_MAX = 64
NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
NOBODY = "nobody"
"""Who shows no valid token, as the audit calls it; so no token has this name."""
OTHERS = 0o077
"""The permissions of everybody but the owner."""
DAY_MS = 86_400_000


class Role(StrEnum):
    """What a token is good for."""

    READER = "reader"  # to read
    PUBLISHER = "publisher"  # to publish events
    OPERATOR = "operator"  # to act, and for all of that

    def may(self, needed: "Role") -> bool:
        return self in (needed, Role.OPERATOR)


@dataclass(frozen=True)
class Token:
    name: str
    role: Role
    expires_at_ms: int
    """Epoch milliseconds of the wall clock."""
    secret: str = field(repr=False)

    def is_expired(self, now_ms: int) -> bool:
        return now_ms >= self.expires_at_ms


class BadName(UserError):
    """A token cannot have the name."""

    def __init__(self, found: str) -> None:
        super().__init__(
            "A token's name is of small letters, digits and hyphens, begins with a letter, has 64 "
            f"characters at most and is not {NOBODY}; found {found[:80]!r}"
        )


class TooManyTokens(UserError):
    """There is no room for one more."""

    def __init__(self) -> None:
        super().__init__(
            f"A shop has {TOKENS_MAX} tokens at most, and has as many. Remove one first: "
            "retail token list · retail token remove NAME"
        )


class NoToken(UserError):
    """There is no token of the name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"Expected one of {', '.join(known) or 'no token'}, found {name[:80]!r}")


def locate_token_folder(settings: Settings) -> Path:
    """Not where keys and passwords are: a backup keeps those, and no token."""
    return settings.data_dir / "tokens"


def locate_token(settings: Settings, name: str) -> Path:
    """The file of the token. Raises BadName."""
    if not NAME.fullmatch(name) or name == NOBODY:
        raise BadName(name)
    return locate_token_folder(settings) / f"{name}.json"


def list_tokens(settings: Settings) -> list[Token]:
    """The tokens there are, expired ones too, by name.

    A file that others than its owner may read, or that does not parse, holds no token.
    """
    files = sorted(locate_token_folder(settings).glob("*.json"))
    return [token for file in files if (token := _read(file)) is not None]


def add_token(settings: Settings, name: str, role: Role, now_ms: int, days: int) -> Token:
    """Draw a token, in place of an earlier one of the name; only its owner can read the file.

    Raises BadName and TooManyTokens.
    """
    file = locate_token(settings, name)
    make_folder(file.parent)
    if not file.exists() and len(list(file.parent.glob("*.json"))) >= TOKENS_MAX:
        raise TooManyTokens
    token = Token(name, role, now_ms + days * DAY_MS, secrets.token_urlsafe(BYTES))
    content = {"role": role, "expires_at_ms": token.expires_at_ms, "token": token.secret}
    replace(file, json.dumps(content) + "\n")
    return token


def remove_token(settings: Settings, name: str) -> None:
    """Forget the token: from now on it is an unknown one. Raises BadName and NoToken."""
    try:
        locate_token(settings, name).unlink()
    except FileNotFoundError:
        raise NoToken(name, [one.name for one in list_tokens(settings)]) from None


def ensure_tokens(settings: Settings, now_ms: int) -> None:
    """Draw the shop's own tokens, one for each role and named like it, where none is valid."""
    valid = {one.name for one in list_tokens(settings) if not one.is_expired(now_ms)}
    for role in Role:
        if role not in valid:
            add_token(settings, role, role, now_ms, settings.api_token_days)


def read_own(settings: Settings) -> str | None:
    """What the shop's own commands show; None where the data folder has none."""
    token = _read(locate_token(settings, Role.OPERATOR))
    return None if token is None else token.secret


def _read(file: Path) -> Token | None:
    try:
        if file.stat().st_mode & OTHERS:
            return None
        found = json.loads(file.read_text(encoding="utf-8"))
        return Token(file.stem, Role(found["role"]), int(found["expires_at_ms"]), found["token"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
