"""What makes two receipts one visit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Nothing but data: the oracle asks with the same."""

    pause_minutes: int = 30
    """Receipts so far apart are two visits: longer than the way to the shop next door, shorter
    than home and back."""
