"""The wall clock, for figures about the present and for what ends by it: sunsets, certificates,
tokens. It never enters a view.
"""

import time
from datetime import UTC, date, datetime


def get_today() -> date:
    return datetime.now(UTC).date()


def get_wall_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
