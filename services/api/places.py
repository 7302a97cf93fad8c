"""Where the reader of a stream stands in the changes of its views, and what it is told next.

Nothing is kept per reader but a place in each change log, so a slow one costs nothing; when a log
has moved on past its place, it is told so and cut off.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.api import changes
from services.api.snapshots import Snapshot, Snapshots
from services.api.sources import Sources

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


def end(reason: str) -> Event:
    return Event("end", json.dumps({"reason": reason}))


class Places:
    """One reader's places in several views; an event's id names all of them, in their order."""

    def __init__(self, sources: Sources, views: Sequence[str], last_event_id: str | None) -> None:
        told = (last_event_id or "").split(".")
        self._ids = told if len(told) == len(views) and told[0] else [NOWHERE] * len(views)
        self._places = [
            Place(sources, view, None if at == NOWHERE else at)
            for view, at in zip(views, self._ids, strict=True)
        ]
        self._turn = 0

    def next(self) -> Event | None:
        """What the reader is to be told next, of each view in turn; None while nothing is."""
        for _ in self._places:
            at, self._turn = self._turn, (self._turn + 1) % len(self._places)
            event = self._places[at].next()
            if event is not None:
                self._ids[at] = event.id or self._ids[at]
                return replace(event, id=".".join(self._ids)) if event.id else event
        return None

    def moved(self) -> bool:
        """Whether there may be something to tell."""
        return any(place.moved() for place in self._places)


class Place:
    """One reader's place in one view's changes."""

    def __init__(self, sources: Sources, view: str, resumed: str | None) -> None:
        self._sources = sources
        self._view = view
        self._resumed = resumed
        self._snapshots: Snapshots | None = None  # the ones that the place is in
        self._number = 0
        self._marker: object = None  # up to which everything was handed out

    def moved(self) -> bool:
        served = self._sources.generations.serving(self._view)
        if served is None:
            return True
        if served.snapshots is None:
            return False  # being made anew; a reset follows when it is there
        return served.snapshots is not self._snapshots or served.marker is not self._marker

    def next(self) -> Event | None:
        """What the reader is to be told next; None while nothing has changed."""
        served = self._sources.generations.serving(self._view)
        if served is None:
            return end(WITHDRAWN)
        marker, snapshots = served.marker, served.snapshots
        if snapshots is None or not self.moved():
            return None
        with snapshots.reading() as snapshot:
            event = None
            if snapshots is not self._snapshots:
                event = self._enter(snapshot, snapshots)
            event = event or self._advance(snapshot)
        if event is None:
            self._marker = marker
        return event

    def _enter(self, snapshot: Snapshot, snapshots: Snapshots) -> Event | None:
        """Take the place after the event named, if it is there; else begin at the marker."""
        first = self._snapshots is None
        self._snapshots, self._number = snapshots, changes.kept(snapshot)[1]
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            return self._reset(snapshot, BEGINS if first else GENERATION)
        generation, batch = map(int, resumed.split("-"))
        if generation != snapshot.marker.generation:
            return self._reset(snapshot, GENERATION)
        number = changes.place(snapshot, self._view, batch)
        if number is None:
            return self._reset(snapshot, FORGOTTEN)
        self._number = number
        return None

    def _advance(self, snapshot: Snapshot) -> Event | None:
        if self._number < changes.kept(snapshot)[0] - 1:
            return end(TOO_SLOW)
        change = changes.following(snapshot, self._view, self._number)
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
        told = {
            "view": self._view,
            "generation": snapshot.marker.generation,
            "batch": at,
            "reason": reason,
            "fetch": f"/v1/views/{self._view}/export",
        }
        return Event("reset", json.dumps(told), f"{snapshot.marker.generation}-{at}")
