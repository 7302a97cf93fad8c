"""When two receipts are one visit, and how many of its stores count."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Data only: the oracle uses the same values."""

    pause_minutes: int = 30
    """Receipts so far apart are two visits: longer than the way to the shop next door, shorter
    than home and back. A day's slots are as long, so at most one visit begins in each."""
    stores_max: int = 100
    """More stores of one visit are not counted: nobody goes to so many, and state holds the names.
    The contract has the same limit."""
