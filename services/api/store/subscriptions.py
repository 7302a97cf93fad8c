"""The subscriptions and how far each has come, in memory, and the way to write one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from threading import Lock

from contracts import CONTRACTS, PROGRESS, SUBSCRIPTIONS, encode, encode_key
from services.api.store.background import Background
from services.api.store.changelog import End, Log, read_row
from services.api.store.changelog import Record as Arrived
from services.api.store.errors import MirrorLoading, NotRecorded
from services.api.store.publisher import Full, OutcomeUnknown, Record, Refused
from services.clock import get_wall_ms
from services.subscriptions.records import Progress, Subscription

TOPICS = (SUBSCRIPTIONS.name, PROGRESS.name)
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
