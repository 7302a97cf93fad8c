"""Whether a window's row may still change: a property of the reader's moment, not of the row.

An event may be published until its horizon is over. A row is final when that is so of everything
that can have happened in its window, and the answer holds what was published by then.
"""

from collections.abc import Iterable
from datetime import timedelta

from contracts import CONTRACTS, RELEASES, Contract
from services.api.marker import Marker
from services.api.sources import Sources
from services.api.tables import Stored, Table, in_ms
from services.clock import wall_ms

ENDS = ("window_end", "interval_end", "day_end", "review_at")
"""How contracts name the end of what a row tells of; its first moment beyond."""


class Finality:
    """Up to where nothing can change any more, for the rows of one view in one answer."""

    def __init__(self, sources: Sources, table: Table, marker: Marker) -> None:
        end = end_of(table.contract)
        self._end_at = None if end is None else table.columns.index(end)
        self._settled_ms = settled_ms(sources, marker)

    def told(self, row: Stored) -> dict[str, bool]:
        """The member `final` of a window's row; nothing of any other."""
        if self._end_at is None:
            return {}
        return {"final": self.settled(row[self._end_at])}

    def settled(self, end_ms: int) -> bool:
        """Whether what ended then can no longer change."""
        return self._settled_ms is not None and end_ms <= self._settled_ms


def end_of(view: Contract) -> str | None:
    """The field that says when what a row tells of is over; None where it tells of no window."""
    names = {field.name for field in view.fields}
    return next((name for name in ENDS if name in names), None)


def settled_ms(sources: Sources, marker: Marker) -> int | None:
    """What ended by then, in epoch ms of world time, is final; None while that is not known.

    The answer holds what the log held when it was as old as its freshness says. Then the world was
    at least where its clock stood, or its last heartbeat, whichever is earlier.
    """
    age_ms, _ = sources.freshness.of(marker.inputs)
    world = sources.control.world
    if age_ms is None or world is None:
        return None
    held_ms = world.at(wall_ms() - age_ms)
    certain_ms = held_ms if world.beat_ms is None else min(held_ms, world.beat_ms)
    return certain_ms - in_ms(horizon(topic for topic, _ in marker.inputs))


def horizon(topics: Iterable[str]) -> timedelta:
    """The longest of the topics': how long after it happened an event may be published.

    Releases do not count: no window takes one.
    """
    counted = [topic for topic in topics if topic in CONTRACTS and topic != RELEASES.name]
    spans = [CONTRACTS[topic].horizon for topic in counted]
    return max((span for span in spans if span is not None), default=timedelta(0))
