"""The position of a stream's reader in the changes of its views, and its next event.

The API keeps only a position per reader and view, so a slow reader costs nothing. When the change
log no longer holds a position, the stream ends with that reason.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.api.store import changes
from services.api.store.snapshots import Snapshot, Snapshots
from services.api.store.store import Store

VIEWS_MAX = 8
EVENT_ID = re.compile(rf"\d{{1,18}}-\d{{1,18}}(\.\d{{1,18}}-\d{{1,18}}){{0,{VIEWS_MAX - 1}}}")
NOWHERE = "0-0"  # no generation has the number 0

BEGINS = "the stream begins here"
GENERATION = "another generation is served"
FORGOTTEN = "the change log no longer, or not yet, holds what came after the event named"
TOO_MANY = f"more than {changes.ROWS_PER_CHANGE_MAX} rows changed at once"
TOO_SLOW = "read too slowly: the change log has moved on"
WITHDRAWN = "no generation of the view may be read any more"


@dataclass(frozen=True)
class Event:
    """One message: change, reset (fetch the view, then go on here) or end (come back later)."""

    kind: str
    data: str
    id: str | None = None

    def __str__(self) -> str:
        identity = "" if self.id is None else f"id: {self.id}\n"
        return f"{identity}event: {self.kind}\ndata: {self.data}\n\n"


def create_end(reason: str) -> Event:
    return Event("end", json.dumps({"reason": reason}))


class Positions:
    """A reader's positions in several views; an event's id has all of them, in order."""

    def __init__(self, store: Store, views: Sequence[str], last_event_id: str | None) -> None:
        ids = (last_event_id or "").split(".")
        self._ids = ids if len(ids) == len(views) and ids[0] else [NOWHERE] * len(views)
        self._positions = [
            Position(store, view, None if at == NOWHERE else at)
            for view, at in zip(views, self._ids, strict=True)
        ]
        self._turn = 0

    def find_next(self) -> Event | None:
        """The reader's next event, of each view in turn; None while there is none."""
        for _ in self._positions:
            at, self._turn = self._turn, (self._turn + 1) % len(self._positions)
            event = self._positions[at].find_next()
            if event is not None:
                self._ids[at] = event.id or self._ids[at]
                return replace(event, id=".".join(self._ids)) if event.id else event
        return None

    def has_moved(self) -> bool:
        """Whether there may be a next event."""
        return any(position.has_moved() for position in self._positions)


class Position:
    """A reader's position in the changes of one view."""

    def __init__(self, store: Store, view: str, resumed: str | None) -> None:
        self._store = store
        self._view = view
        self._resumed = resumed
        self._snapshots: Snapshots | None = None  # of the generation that the position is in
        self._number = 0
        self._marker: object = None  # everything up to it has been sent

    def has_moved(self) -> bool:
        served = self._store.generations.find_view(self._view)
        if served is None:
            return True
        if served.snapshots is None:
            return False  # being rebuilt; a reset follows
        return served.snapshots is not self._snapshots or served.marker is not self._marker

    def find_next(self) -> Event | None:
        """The reader's next event; None while nothing has changed."""
        served = self._store.generations.find_view(self._view)
        if served is None:
            return create_end(WITHDRAWN)
        marker, snapshots = served.marker, served.snapshots
        if snapshots is None or not self.has_moved():
            return None
        with snapshots.open() as snapshot:
            event = None
            if snapshots is not self._snapshots:
                event = self._enter(snapshot, snapshots)
            event = event or self._advance(snapshot)
        if event is None:
            self._marker = marker
        return event

    def _enter(self, snapshot: Snapshot, snapshots: Snapshots) -> Event | None:
        """Resume after the named event if the change log has it; else begin at the marker."""
        first = self._snapshots is None
        self._snapshots, self._number = snapshots, changes.find_extent(snapshot)[1]
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            return self._reset(snapshot, BEGINS if first else GENERATION)
        generation, batch = map(int, resumed.split("-"))
        if generation != snapshot.marker.generation:
            return self._reset(snapshot, GENERATION)
        number = changes.find_position(snapshot, self._view, batch)
        if number is None:
            return self._reset(snapshot, FORGOTTEN)
        self._number = number
        return None

    def _advance(self, snapshot: Snapshot) -> Event | None:
        if self._number < changes.find_extent(snapshot)[0] - 1:
            return create_end(TOO_SLOW)
        change = changes.find_next(snapshot, self._view, self._number)
        if change is None:
            return None
        self._number = change.number
        generation = snapshot.marker.generation
        if change.rows is None:
            return self._reset(snapshot, TOO_MANY, change.batch)
        head = {"view": self._view, "generation": generation, "batch": change.batch}
        data = f'{json.dumps(head, separators=(",", ":"))[:-1]},"rows":{change.rows}}}'
        return Event("change", data, f"{generation}-{change.batch}")

    def _reset(self, snapshot: Snapshot, reason: str, batch: int | None = None) -> Event:
        at = snapshot.marker.batch if batch is None else batch
        data = {
            "view": self._view,
            "generation": snapshot.marker.generation,
            "batch": at,
            "reason": reason,
            "fetch": f"/v1/views/{self._view}/export",
        }
        return Event("reset", json.dumps(data), f"{snapshot.marker.generation}-{at}")
