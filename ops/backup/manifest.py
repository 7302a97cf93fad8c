"""The manifest of a backup. It is written last, so that an incomplete backup has none."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from infra.errors import UserError
from ops.backup.copying import KEPT

FILE = "backup.json"
FORMAT = 1
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
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True)
        draft = folder / f"{FILE}.new"
        draft.write_text(f"{text}\n", encoding="utf-8")
        draft.rename(folder / FILE)


def read_manifest(folder: Path) -> Manifest:
    """Raises NoBackup."""
    try:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NoBackup(folder, f"has no {FILE}") from error
    except ValueError as error:
        raise NoBackup(folder, f"its {FILE} does not parse: {error}") from error
    try:
        if document["format"] != FORMAT:
            raise NoBackup(folder, f"is of format {document['format']}, and {FORMAT} is read")
        return Manifest(
            made_at_ms=int(document["made_at_ms"]),
            paused_seconds=document["paused_seconds"],
            pipelines={
                name: Position(**position) for name, position in document["pipelines"].items()
            },
            files=dict(document["files"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoBackup(folder, f"its {FILE} lacks what one has: {error}") from error
