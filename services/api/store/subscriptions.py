"""The subscriptions and how far each has come, in memory, and the way to write one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from threading import Lock
from time import monotonic

from contracts import CONTRACTS, MARKERS, PROGRESS, SUBSCRIPTIONS, encode, encode_key
from services.api.store.background import Background
from services.api.store.changelog import End, Extent, Log, read_row
from services.api.store.changelog import Record as Arrived
from services.api.store.errors import MirrorLoading, NotRecorded
from services.api.store.marker import Marker
from services.api.store.publisher import Full, OutcomeUnknown, Record, Refused
from services.clock import get_wall_ms
from services.subscriptions.records import Progress, Subscription

TOPICS = (SUBSCRIPTIONS.name, PROGRESS.name)
MARKERS_READ_MAX = 20_000  # of the newest: an older one is not found
MARKERS_SECONDS_MAX = 10.0
LOADING = "it is being read"

OpenLog = Callable[[Iterable[str]], AbstractContextManager[Log]]
Write = Callable[[Record], Awaitable[object]]
"""Returns once the log holds the record. Raises Full, Refused and OutcomeUnknown."""


class Subscriptions(Background):
    """A thread that follows both topics. What this process writes, it knows at once."""

    def __init__(self, open_log: OpenLog, write: Write) -> None:
        super().__init__("subscriptions", trouble=LOADING)
        self._open_log = open_log
        self._write = write
        self._known: dict[str, Subscription] = {}
        self._progress: dict[str, Progress] = {}
        self._loaded = False
        self._lock = Lock()
        self.changing = asyncio.Lock()
        """Held while one is added, so that there are no more than there may be."""

    def list_all(self) -> list[tuple[Subscription, Progress]]:
        """Every subscription with its progress, the oldest first. Raises MirrorLoading."""
        if not self._loaded:
            raise MirrorLoading(SUBSCRIPTIONS.name, self.trouble or LOADING)
        with self._lock:
            known = sorted(self._known.values(), key=lambda one: one.created_at)
            return [(one, self._find_progress(one.subscription_id)) for one in known]

    async def put(self, subscription: Subscription) -> None:
        """Write the subscription, anew or as it is now. Raises NotRecorded."""
        row = subscription.to_row()
        await self._record(encode_key(SUBSCRIPTIONS, row), encode(SUBSCRIPTIONS, row))
        with self._lock:
            self._known[subscription.subscription_id] = subscription

    async def remove(self, subscription_id: str) -> None:
        """End the subscription. Raises NotRecorded."""
        await self._record(subscription_id.encode(), None)
        with self._lock:
            self._known.pop(subscription_id, None)

    def find_marker(self, pipeline: str, generation: int, batch: int) -> Marker | None:
        """The marker of the batch, if it is among the newest of the log; None if it is not."""
        with self._open_log([MARKERS.name]) as markers:
            extent = markers.read_extent()
            ends = extent.ends.items()
            markers.start({at: max(extent.starts[at], end - MARKERS_READ_MAX) for at, end in ends})
            every = [each for each in _read_to_end(markers, extent) if each.value is not None]
        for each in reversed(every):
            row = read_row(MARKERS, each)
            if row is None:
                continue
            marker = Marker.read(row, each.offset)
            if (marker.pipeline, marker.generation, marker.batch) == (pipeline, generation, batch):
                return marker
        return None

    def run_once(self) -> None:
        with self._open_log(TOPICS) as topics:
            extent = topics.read_extent()
            topics.start(extent.starts)
            unread = set(extent.starts)
            while not self.stopping.is_set():
                for each in topics.read():
                    if isinstance(each, End):
                        unread.discard(each.partition)
                    else:
                        self._apply(each)
                self._loaded = self._loaded or not unread
                self.clear_trouble()

    def _apply(self, record: Arrived) -> None:
        key, topic = record.key.decode(errors="replace"), record.partition[0]
        row = None if record.value is None else read_row(CONTRACTS[topic], record)
        with self._lock:
            if record.value is None:
                (self._known if topic == SUBSCRIPTIONS.name else self._progress).pop(key, None)
            elif row is not None and topic == SUBSCRIPTIONS.name:
                self._known[key] = Subscription.parse(row)
            elif row is not None:
                self._progress[key] = Progress.parse(row)

    def _find_progress(self, subscription_id: str) -> Progress:
        return self._progress.get(subscription_id) or Progress(subscription_id=subscription_id)

    async def _record(self, key: bytes, value: bytes | None) -> None:
        try:
            await self._write(Record(SUBSCRIPTIONS.name, key, value, get_wall_ms()))
        except (Full, Refused, OutcomeUnknown) as error:
            raise NotRecorded(str(error) or "too much is on its way") from error


def _read_to_end(log: Log, extent: Extent) -> Iterator[Arrived]:
    """The records up to the ends; fewer if the log does not send them in time."""
    deadline, unread = monotonic() + MARKERS_SECONDS_MAX, set(extent.ends)
    while unread and monotonic() < deadline:
        for each in log.read():
            if isinstance(each, End):
                unread.discard(each.partition)
            else:
                yield each
