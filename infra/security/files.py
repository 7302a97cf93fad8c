"""Files with secrets: only their owner can read them, and each secret is drawn once."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from infra.settings import SECURITY, Settings

FOLDER_MODE = 0o700


def locate_security_folder(settings: Settings) -> Path:
    """The folder of the keys, certificates and passwords of a data folder."""
    return settings.data_dir / SECURITY


def locate_authority(settings: Settings) -> Path:
    """The certificate that every client trusts; no secret."""
    return locate_security_folder(settings) / "authority.pem"


def locate_certificate(settings: Settings, component: str) -> Path:
    """The component's private key, and its certificate after it."""
    return locate_security_folder(settings) / "certificates" / f"{component}.pem"


def make_folder(folder: Path) -> None:
    """Make the folder, which only its owner can enter."""
    folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)


def write_once(file: Path, content: str) -> None:
    """Write the file, whole or not at all, unless it exists."""
    with NamedTemporaryFile("w", dir=file.parent, prefix="draft-", encoding="utf-8") as draft:
        draft.write(content)
        draft.flush()  # a temporary file has mode 600, and the link is the same file
        with suppress(FileExistsError):
            file.hardlink_to(draft.name)


def replace(file: Path, content: str) -> None:
    """Write the file, whole or not at all, in place of an earlier one."""
    with NamedTemporaryFile(
        "w", dir=file.parent, prefix="draft-", encoding="utf-8", delete=False
    ) as draft:
        draft.write(content)
    os.replace(draft.name, file)
