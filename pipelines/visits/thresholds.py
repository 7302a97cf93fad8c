"""When two receipts are one visit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Data only: the oracle uses the same values."""

    pause_minutes: int = 30
    """Receipts so far apart are two visits: longer than the way to the shop next door, shorter
    than home and back."""
