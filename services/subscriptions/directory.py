"""Follows the control topics and the subscriptions: who is sent what, of which generation."""

from collections.abc import Callable
from threading import Lock

from contracts import CONTRACTS, GENERATIONS, MARKERS, PROGRESS, SUBSCRIPTIONS
from infra.settings import Settings
from ops.generations.marker import Marker
from ops.generations.record import Generation, Generations
from services.api.store.changelog import Changelog, End, Record, read_row
from services.subscriptions.matching import READER
from services.subscriptions.records import Progress, Subscription

TOPICS = (GENERATIONS.name, MARKERS.name, SUBSCRIPTIONS.name, PROGRESS.name)


class Directory:
    """The newest control records and subscriptions; one thread reads, others look up."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self.progress: dict[str, Progress] = {}
        self._generations: dict[str, Generations] = {}
        self._markers: dict[tuple[str, int], Marker] = {}
        self._lock = Lock()

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
        with self._lock:
            if record.value is None:
                self._forget(record.partition[0], record.key.decode(errors="replace"))
                return
            row = read_row(CONTRACTS[record.partition[0]], record, READER)
            if row is None:
                return
            if record.partition[0] == GENERATIONS.name:
                self._generations[row["pipeline"]] = Generations.parse(row)
            elif record.partition[0] == MARKERS.name:
                marker = Marker.parse(row)
                self._markers[marker.pipeline, marker.generation] = marker
            elif record.partition[0] == SUBSCRIPTIONS.name:
                self.subscriptions[row["subscription_id"]] = Subscription.parse(row)
            else:
                self.progress[row["subscription_id"]] = Progress.parse(row)

    def _forget(self, topic: str, key: str) -> None:
        if topic == GENERATIONS.name:
            self._generations.pop(key, None)
        elif topic == SUBSCRIPTIONS.name:
            self.subscriptions.pop(key, None)
        elif topic == PROGRESS.name:
            self.progress.pop(key, None)


def follow(
    settings: Settings,
    directory: Directory,
    is_over: Callable[[], bool],
    on_news: Callable[[], None],
) -> None:
    """Read until it is over; call `on_news` after the first end, and after each read from then on.

    Raises KafkaException, UnknownTopic and OffsetGone.
    """
    with Changelog(settings, TOPICS) as topics:
        extent = topics.read_extent()
        topics.start(extent.starts)
        unread = set(extent.starts)
        while not is_over():
            for each in topics.read():
                if isinstance(each, End):
                    unread.discard(each.partition)
                else:
                    directory.apply(each)
            if not unread:
                on_news()
