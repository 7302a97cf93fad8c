"""One difference between two versions of a contract."""

from dataclasses import dataclass
from enum import Enum

from contracts.projection import Path


class Harm(Enum):
    """The readers and writers that the change breaks."""

    READERS = "readers"
    WRITERS = "writers"
    LOG = "log"
    """Readers with the new version, of records that the log holds already."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference that is not only in words; `text` has the old and the new value: int → long."""

    place: str
    text: str
    harms: frozenset[Harm] = frozenset()
    why: str = ""
    undo: str = ""
    """How to undo it."""
    path: Path | None = None
    """The field whose users the change concerns."""
    reliances: tuple[str, ...] = ()
    """The reliances that the change concerns, where `path` is None."""
    meaning: bool = False
    """Whether readers can read the field as before, but it means something else."""


NONE: frozenset[Harm] = frozenset()
READERS, WRITERS, LOG = (frozenset({harm}) for harm in Harm)
