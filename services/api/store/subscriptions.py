"""The subscriptions and how far each has come, in memory, and the way to write one."""

import asyncio
from collections.abc import Awaitable, Callable

from contracts import PROGRESS, SUBSCRIPTIONS, encode, encode_key
from services.api.store.background import Background
from services.api.store.changelog import READER, Record, follow
from services.api.store.errors import MirrorLoading, NotRecorded
from services.api.store.materializer import OpenLog
from services.api.store.publisher import NotPublished
from services.api.store.publisher import Record as Outgoing
from services.clock import get_wall_ms
from services.subscriptions.directory import Directory
from services.subscriptions.records import Progress, Subscription

TOPICS = (SUBSCRIPTIONS.name, PROGRESS.name)
LOADING = "it is being read"

Write = Callable[[Outgoing], Awaitable[object]]
"""Returns once the log holds the record. Raises NotPublished."""


class Subscriptions(Background):
    """A thread that follows both topics. What this process writes, it knows at once."""

    def __init__(self, open_log: OpenLog, write: Write) -> None:
        super().__init__("subscriptions", trouble=LOADING)
        self._open_log = open_log
        self._write = write
        self._directory = Directory(READER)
        self._loaded = False
        self.changing = asyncio.Lock()
        """Held while one is added, so that there are no more than there may be."""

    def list_all(self) -> list[tuple[Subscription, Progress]]:
        """Every subscription with its progress, the oldest first. Raises MirrorLoading."""
        if not self._loaded:
            raise MirrorLoading(SUBSCRIPTIONS.name, self.trouble or LOADING)
        return self._directory.list_all()

    async def put(self, subscription: Subscription) -> None:
        """Write the subscription, anew or as it is now. Raises NotRecorded."""
        row = subscription.to_row()
        await self._record(encode_key(SUBSCRIPTIONS, row), encode(SUBSCRIPTIONS, row))
        self._directory.put(subscription.subscription_id, subscription)

    async def remove(self, subscription_id: str) -> None:
        """End the subscription. Raises NotRecorded."""
        await self._record(subscription_id.encode(), None)
        self._directory.put(subscription_id, None)

    def run_once(self) -> None:
        with self._open_log(TOPICS) as topics:
            extent = topics.read_extent()
            for arrived, is_whole in follow(topics, extent, extent.starts, self.stopping.is_set):
                for each in arrived:
                    if isinstance(each, Record):
                        self._directory.apply(each)
                self._loaded = self._loaded or is_whole
                self.clear_trouble()

    async def _record(self, key: bytes, value: bytes | None) -> None:
        try:
            await self._write(Outgoing(SUBSCRIPTIONS.name, key, value, get_wall_ms()))
        except NotPublished as error:
            raise NotRecorded(str(error)) from error
