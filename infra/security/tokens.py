"""Tokens for the API of a secure shop: each has a file, a role and an expiry."""

import json
import re
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from infra.errors import UserError
from infra.security.files import make_folder, replace
from infra.settings import OTHERS, Settings

BYTES = 24
TOKENS_MAX = 64
DAYS = 30
"""How long a token is valid, unless somebody says otherwise; the shop's own are drawn anew then."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
NOBODY = "nobody"
"""The audit's name for a caller without a valid token; so no token has this name."""
DAY_MS = 86_400_000


class Role(StrEnum):
    """What a token permits."""

    READER = "reader"  # may read
    PUBLISHER = "publisher"  # may publish events
    OPERATOR = "operator"  # may do everything

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


class End(NamedTuple):
    """Of a token or a certificate."""

    kind: str
    name: str
    at_ms: int
    """Epoch milliseconds of the wall clock."""
    days_left_min: int
    """From so many days before on, somebody is told."""
    remedy: str

    def is_near(self, now_ms: int) -> bool:
        return now_ms >= self.at_ms - self.days_left_min * DAY_MS


def locate_token_folder(settings: Settings) -> Path:
    """The folder of tokens. It is not that of keys and passwords: a backup copies no token."""
    return settings.data_dir / "tokens"


def locate_token(settings: Settings, name: str) -> Path:
    """The file of the token. Raises UserError."""
    if not NAME.fullmatch(name) or name == NOBODY:
        raise UserError(
            "A token's name has at most 64 small letters, digits and hyphens, begins with a letter "
            f"and is not {NOBODY}; found {name[:80]!r}"
        )
    return locate_token_folder(settings) / f"{name}.json"


def list_tokens(settings: Settings) -> list[Token]:
    """All tokens, expired ones too, by name.

    It ignores a file that others than its owner may read, or that does not parse.
    """
    files = sorted(locate_token_folder(settings).glob("*.json"))
    return [token for file in files if (token := _read(file)) is not None]


def get_token(settings: Settings, name: str) -> Token:
    """The token of this name, valid or expired. Raises UserError."""
    token = _read(locate_token(settings, name))
    if token is None:
        raise _explain_missing(settings, name)
    return token


def add_token(settings: Settings, name: str, role: Role, now_ms: int, days: int) -> Token:
    """Draw a token; it replaces an earlier one of this name. Only its owner can read the file.

    Raises UserError.
    """
    file = locate_token(settings, name)
    make_folder(file.parent)
    if not file.exists() and len(list(file.parent.glob("*.json"))) >= TOKENS_MAX:
        raise UserError(
            f"A shop has at most {TOKENS_MAX} tokens, and this one has as many. Remove one first: "
            "retail security token list · retail security token remove NAME"
        )
    token = Token(name, role, now_ms + days * DAY_MS, secrets.token_urlsafe(BYTES))
    content = {"role": role, "expires_at_ms": token.expires_at_ms, "token": token.secret}
    replace(file, json.dumps(content) + "\n")
    return token


def remove_token(settings: Settings, name: str) -> None:
    """Remove the token, which is invalid from now on. Raises UserError."""
    try:
        locate_token(settings, name).unlink()
    except FileNotFoundError:
        raise _explain_missing(settings, name) from None


def ensure_tokens(settings: Settings, now_ms: int) -> None:
    """Draw the shop's own token for each role, named like the role, unless it has a valid one."""
    valid = {token.name for token in list_tokens(settings) if not token.is_expired(now_ms)}
    for role in Role:
        if role not in valid:
            add_token(settings, role, role, now_ms, DAYS)


def read_own(settings: Settings, now_ms: int = 0) -> str | None:
    """The token of the shop's own commands, drawn anew if it is over; None where there is none."""
    token = _read(locate_token(settings, Role.OPERATOR))
    if token is not None and token.is_expired(now_ms):
        token = add_token(settings, token.name, token.role, now_ms, DAYS)
    return None if token is None else token.secret


def _explain_missing(settings: Settings, name: str) -> UserError:
    names = ", ".join(token.name for token in list_tokens(settings)) or "no token"
    return UserError(f"Expected one of {names}, found {name[:80]!r}")


def _read(file: Path) -> Token | None:
    try:
        if file.stat().st_mode & OTHERS:
            return None
        content = json.loads(file.read_text(encoding="utf-8"))
        role, expires_at_ms = Role(content["role"]), int(content["expires_at_ms"])
        return Token(file.stem, role, expires_at_ms, content["token"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
