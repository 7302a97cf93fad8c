"""How much room a terminal has for each part of the overview."""

from dataclasses import dataclass

TWO_COLUMNS_WIDTH = 100
"""From this width on two parts stand side by side."""
ROWS_SHOWN = 6
STORES_SHOWN = 12
HEAD_LINES = 5
FRAME_LINES = 3
"""The lines of a part beside its rows: two of its frame, one of its heads."""


@dataclass(frozen=True)
class Room:
    """The room for one part, in columns and lines."""

    width: int
    rows_max: int
    """The most rows of a list. All stores are shown where the height is not limited."""
    stores_max: int


def measure_room(width: int, height: int | None) -> Room:
    """`height`: lines; None where the picture may have any height."""
    is_wide = width >= TWO_COLUMNS_WIDTH
    part = width // 2 if is_wide else width
    if height is None:
        return Room(part, ROWS_SHOWN, STORES_SHOWN)
    rows = max(1, (height - HEAD_LINES) // (3 if is_wide else 6) - FRAME_LINES)
    return Room(part, min(rows, ROWS_SHOWN), min(rows, STORES_SHOWN))
