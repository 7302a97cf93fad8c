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
    """A difference that is not only in words; `text` says what was and what is: int → long."""

    place: str
    text: str
    harms: frozenset[Harm] = frozenset()
    why: str = ""
    undo: str = ""
    """How to undo it."""
    path: Path | None = None
    """The field, where the change concerns the users of one."""
    reliances: tuple[str, ...] = ()
    """Where it concerns no field: the reliances that it concerns."""
    meaning: bool = False
    """Whether the field can be read as before, but means something else."""


NONE: frozenset[Harm] = frozenset()
READERS, WRITERS, LOG = (frozenset({one}) for one in Harm)
