"""The token for actions through the API: whoever can read the data folder may act."""

import secrets
from pathlib import Path

from infra.security.files import write_once
from infra.settings import Settings

BYTES = 24


def locate_token(settings: Settings) -> Path:
    return settings.data_dir / "token"


def read_token(settings: Settings) -> str:
    """The token of this data folder; the first call draws it. Only the file's owner can read it."""
    file = locate_token(settings)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_once(file, secrets.token_urlsafe(BYTES) + "\n")
    return file.read_text(encoding="utf-8").strip()
