"""Which pieces of tuning are on."""

from enum import StrEnum

from infra.errors import UserError
from infra.settings import Settings


class Piece(StrEnum):
    """A piece by its name in SPARK_TUNING. README.md says what each one replaces."""

    CACHES = "caches"
    CONTEXT = "context"
    DAEMON = "daemon"
    FILES = "files"
    HEAP = "heap"
    OPTIMIZER = "optimizer"
    PLAN = "plan"
    STATE = "state"


class UnknownPiece(UserError):
    """SPARK_TUNING names a piece that does not exist."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            f"SPARK_TUNING should be on, off, or some of {', '.join(Piece)}, but names "
            f"{', '.join(names)}. The pieces are told in pipelines/engine/tuning/README.md"
        )


def choose_pieces(settings: Settings) -> frozenset[Piece]:
    """The pieces that are on. Raises UnknownPiece."""
    if settings.spark_tuning in ("on", "off"):
        return frozenset(Piece if settings.spark_tuning == "on" else ())
    named = settings.spark_tuning.split(",")
    if unknown := [name for name in named if name not in set(Piece)]:
        raise UnknownPiece(unknown)
    return frozenset(map(Piece, named))
