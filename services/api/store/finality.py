"""Whether a window's row may still change. That depends on the time of the read, not on the row.

An event may be published until its horizon ends. A row is final when the horizon of every event in
its window has ended, and the answer holds everything that was published by then.
"""

from datetime import timedelta

from contracts import CONTRACTS, RELEASES, Contract
from infra.clock import get_wall_ms
from services.api.store.marker import Marker
from services.api.store.store import Store
from services.api.store.tables import Stored, Table
from services.times import to_ms

ENDS = ("window_end", "interval_end", "day_end", "review_at")
"""The names in contracts of a window's end, the first moment after it."""


class Finality:
    """The window end up to which rows are final, for one view in one answer."""

    def __init__(self, store: Store, table: Table, marker: Marker) -> None:
        end = find_end_field(table.contract)
        self._end_at = None if end is None else table.columns.index(end)
        self._settled_ms = find_settled_ms(store, marker)

    def to_json(self, row: Stored) -> dict[str, bool]:
        """The member `final` of a window's row; nothing for any other row."""
        if self._end_at is None:
            return {}
        return {"final": self.is_settled(row[self._end_at])}

    def is_settled(self, end_ms: int) -> bool:
        """Whether a window that ended then can no longer change."""
        return self._settled_ms is not None and end_ms <= self._settled_ms


def find_end_field(view: Contract) -> str | None:
    """The field with the end of a row's window; None for a view without windows."""
    names = {field.name for field in view.fields}
    return next((name for name in ENDS if name in names), None)


def find_settled_ms(store: Store, marker: Marker) -> int | None:
    """Windows that ended by then, in epoch ms of world time, are final; None: not known yet.

    The answer holds the log's records of the moment that its freshness names. At that moment the
    world had reached the time of its clock or its last heartbeat, whichever is earlier.
    """
    age_ms, _ = store.freshness.measure(marker.inputs)
    world = store.control.world
    if age_ms is None or world is None:
        return None
    held_ms = world.world_at(get_wall_ms() - age_ms)
    certain_ms = held_ms if world.beat_ms is None else min(held_ms, world.beat_ms)
    # Releases do not count: no window includes one.
    inputs = {topic for topic, _ in marker.inputs} & CONTRACTS.keys() - {RELEASES.name}
    horizons = (CONTRACTS[topic].horizon or timedelta() for topic in inputs)
    return certain_ms - to_ms(max(horizons, default=timedelta()))
