"""Who is sent what, of which generation: the newest control records and subscriptions."""

from threading import Lock
from typing import Any

from contracts import CONTRACTS, GENERATIONS, MARKERS, PROGRESS, SUBSCRIPTIONS
from ops.control.reading import Reader
from ops.generations.marker import Marker
from ops.generations.record import Generation, Generations
from services.api.store.changelog import Record, read_row
from services.subscriptions.records import Progress, Subscription


class Directory:
    """One thread applies records, others look up."""

    def __init__(self, reader: Reader) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self.progress: dict[str, Progress] = {}
        self._reader = reader
        self._generations: dict[str, Generations] = {}
        self._markers: dict[tuple[str, int], Marker] = {}
        self._lock = Lock()

    def list_all(self) -> list[tuple[Subscription, Progress]]:
        """Every subscription with its progress, the oldest first."""
        with self._lock:
            return [
                (one, self.progress.get(identity) or Progress(subscription_id=identity))
                for identity, one in sorted(
                    self.subscriptions.items(), key=lambda item: item[1].created_at
                )
            ]

    def find_promoted(self, view: str) -> Generation | None:
        """The generation of the view that readers follow; None while there is none."""
        with self._lock:
            promoted = [one.promoted for one in self._generations.values()]
        return next((one for one in promoted if one and view in one.views), None)

    def find_generation(self, view: str, number: int) -> Generation | None:
        """The generation with this number, while it is known."""
        with self._lock:
            every = [one.of(number) for one in self._generations.values()]
        return next((one for one in every if one and view in one.views), None)

    def find_marker(self, generation: Generation) -> Marker | None:
        """The newest marker of the generation."""
        with self._lock:
            return self._markers.get((generation.pipeline, generation.number))

    def apply(self, record: Record) -> None:
        topic, key = record.partition[0], record.key.decode(errors="replace")
        row = None
        if record.value is not None:
            row = read_row(CONTRACTS[topic], record, self._reader)
            if row is None:
                return
        with self._lock:
            if topic == MARKERS.name:
                if row is not None:
                    marker = Marker.parse(row)
                    self._markers[marker.pipeline, marker.generation] = marker
            elif topic == GENERATIONS.name:
                _set(self._generations, key, row and Generations.parse(row))
            elif topic == SUBSCRIPTIONS.name:
                _set(self.subscriptions, key, row and Subscription.parse(row))
            elif topic == PROGRESS.name:
                _set(self.progress, key, row and Progress.parse(row))

    def put(self, identity: str, subscription: Subscription | None) -> None:
        """Take up what is in the log, before it is read there; None ends the subscription."""
        with self._lock:
            _set(self.subscriptions, identity, subscription)


def _set(known: dict[str, Any], key: str, value: object) -> None:
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value
