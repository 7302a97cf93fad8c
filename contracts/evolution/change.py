"""One difference between two versions of a contract."""

from dataclasses import dataclass
from enum import Enum

from contracts.projection import Path


class Harm(Enum):
    """The readers and writers that the change breaks."""

    READERS = "readers"
    WRITERS = "writers"
    LOG = "log"
    """A reader with the new version, of records that are in the log already."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference that is not in words alone; `text` says what was and what is: int → long."""

    place: str
    text: str
    harms: frozenset[Harm] = frozenset()
    why: str = ""
    undo: str = ""
    """What to do to be rid of it."""
    path: Path | None = None
    """The field: it concerns who uses it."""
    reliances: tuple[str, ...] = ()
    """Of no field: it concerns who relies on one of these."""
    meaning: bool = False
    """Whether the field reads as before, and says something else."""


NONE: frozenset[Harm] = frozenset()
READERS, WRITERS, LOG = (frozenset({one}) for one in Harm)
