"""The manifest of a backup. It is written last, so that an incomplete backup has none."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from infra.errors import UserError
from ops.backup.copying import KEPT

FILE = "backup.json"
KEPT_FIRST = frozenset((name,) for name in KEPT)


class NoBackup(UserError):
    """A folder that holds no complete backup."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(
            f"{folder} should hold a whole backup, but {why}. "
            "Make another one: retail backup make TO"
        )


@dataclass(frozen=True)
class Position:
    """The position of a pipeline's promoted generation."""

    generation: int
    batch: int
    """The last finished batch."""
    records: int
    """The number of records that it had read of its topics."""


@dataclass(frozen=True)
class Manifest:
    """The moment of a backup, and its files."""

    made_at_ms: int
    """Wall clock, in epoch milliseconds. The backup holds nothing that came later."""
    paused_seconds: float
    """How long the shop was paused for it."""
    pipelines: Mapping[str, Position]
    files: Mapping[str, str]
    """SHA-256 of each file, by its path below the folder."""
    format: Literal[1] = 1

    def refuse_elsewhere(self, folder: Path) -> None:
        """Raise NoBackup for a file that is missing, leads elsewhere, or belongs in no backup."""
        for name in self.files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or path.parts[:1] not in KEPT_FIRST:
                raise NoBackup(folder, f"names {name}, which no backup keeps")
            if (folder / name).resolve() != folder.resolve() / name:
                raise NoBackup(folder, f"has a link for {name}")
            if not (folder / name).is_file():
                raise NoBackup(folder, f"lacks {name}")

    def write(self, folder: Path) -> None:
        draft = folder / f"{FILE}.new"
        draft.write_bytes(MANIFEST.dump_json(self, indent=1))
        draft.rename(folder / FILE)


MANIFEST = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest:
    """Raises NoBackup."""
    try:
        return MANIFEST.validate_json((folder / FILE).read_bytes())
    except FileNotFoundError as error:
        raise NoBackup(folder, f"has no {FILE}") from error
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))} {each['msg']}" for each in error.errors()]
        raise NoBackup(folder, f"its {FILE} is wrong: {'; '.join(wrong)}") from error
