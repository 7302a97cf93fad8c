"""The token for actions through the API: a reader of the data folder may act."""

import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from infra.settings import Settings

BYTES = 24


def token_file(settings: Settings) -> Path:
    return settings.data_dir / "token"


def read_token(settings: Settings) -> str:
    """The token of this data folder; the first call draws it. Only its owner can read the file."""
    file = token_file(settings)
    if not file.exists():
        _draw(file)
    return file.read_text(encoding="utf-8").strip()


def _draw(file: Path) -> None:
    """Write the file, whole or not at all; the token of an earlier writer stays."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=file.parent, prefix="token-", encoding="utf-8") as draft:
        draft.write(secrets.token_urlsafe(BYTES) + "\n")
        draft.flush()  # a temporary file has mode 600, and the link is the same file
        with suppress(FileExistsError):
            file.hardlink_to(draft.name)
