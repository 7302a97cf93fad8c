"""The difference that the guide shows."""

from datetime import UTC, datetime

from contracts import ALERTS
from ops.replay.difference import Difference, Facet, Sample, Total

STORES_OF_GUIDE = {
    "S000": (13, 17),
    "S001": (9, 10),
    "S002": (10, 11),
    "S004": (5, 6),
    "S006": (9, 10),
    "S007": (4, 5),
    "S008": (7, 8),
    "S010": (5, 6),
    "S011": (0, 1),
}


def at(hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 3, 2, hour, minute, second, tzinfo=UTC)


def card(subject: str, hour: int) -> dict[str, object]:
    return {"rule": "card-velocity", "subject": f"tok_{subject}", "interval_start": at(hour)}


def decide(limit: int, decided_at: datetime) -> dict[str, object]:
    return {"threshold": limit, "decided_at": decided_at}


# The difference that the guide shows.
SHOWN = Difference(
    view=ALERTS.name,
    before=79,
    after=91,
    added=12,
    removed=0,
    changed=4,
    totals=(
        Total("measured", 210_410, 210_462),
        Total("threshold", 134_340, 134_368),
        Total("events", 220, 274),
    ),
    facets=(
        Facet("rule", "card-velocity", 4, 16),
        Facet("status", "open", 26, 38),
        *(Facet("store_id", store, *counts) for store, counts in STORES_OF_GUIDE.items()),
    ),
    largest=(
        Sample(
            card("98724250769f", 19),
            decide(5, at(19, 54, 33)),
            decide(3, at(19, 52, 29)),
        ),
        Sample(
            card("cb7f6e1bc23a", 19),
            decide(5, at(19, 27, 1)),
            decide(3, at(19, 26, 14)),
        ),
        Sample(
            card("13160c42eb1f", 10),
            {},
            {"status": "open", "store_id": "S001", "measured": 4, "threshold": 3},
        ),
        Sample(
            card("14110ce4a5c9", 16),
            {},
            {"status": "open", "store_id": "S006", "measured": 5, "threshold": 3},
        ),
    ),
)
