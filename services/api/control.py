"""Follows the control topics: which generations there are, and what time it is in the world."""

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

from contracts import CLOCKS, GENERATIONS, HEARTBEATS, decode
from infra.kafka import Partition
from services.api.changelog import End, Extent, Log, Record
from services.api.generation import Promotion
from services.api.marker import epoch_ms
from services.api.world import WorldClock

RETRY_SECONDS = 1.0
TOPICS = (GENERATIONS.name, CLOCKS.name, HEARTBEATS.name)

log = logging.getLogger("api.control")


class Control:
    """A thread that hands every promotion on, from the newest one on."""

    def __init__(
        self,
        open_log: Callable[[Iterable[str]], AbstractContextManager[Log]],
        on_promotion: Callable[[Promotion], None],
    ) -> None:
        self.world: WorldClock | None = None
        self._clock: WorldClock | None = None
        self._beat_ms: int | None = None
        self.trouble: str | None = "the control topics have not been read yet"
        self._open_log = open_log
        self._on_promotion = on_promotion
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except Exception as error:
                self.trouble = str(error)
                log.warning("%s; going on in %.1f s", error, RETRY_SECONDS)
                log.debug("control topics", exc_info=True)
                self._stop.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        with self._open_log(TOPICS) as topics:
            extent = topics.extent()
            topics.start({at: _first(at, extent) for at in extent.starts})
            unread = set(extent.starts)  # partitions whose end has not been seen
            newest: dict[tuple[Partition, bytes], Record] = {}
            while not self._stop.is_set():
                for each in topics.read():
                    if isinstance(each, End):
                        unread.discard(each.partition)
                    else:
                        newest[each.partition, each.key] = each
                if not unread:  # until then a record may be long out of date
                    self.trouble = None
                    for record in newest.values():
                        self._take(record)
                    newest.clear()

    def _take(self, record: Record) -> None:
        if record.value is None:
            return  # a pipeline that is no more; what it left is served until the next start
        value = decode(record.value).value
        if record.partition[0] == GENERATIONS.name:
            self._on_promotion(Promotion.of(value))
        elif record.partition[0] == HEARTBEATS.name:
            self._beat_ms = epoch_ms(value["event_time"])
        else:
            self._clock = WorldClock.of(value)
        if self._clock is not None:
            self.world = replace(self._clock, beat_ms=self._beat_ms)


def _first(at: Partition, extent: Extent) -> int:
    """Of the heartbeats, which are kept for ever, the last one is enough."""
    first = extent.starts[at]
    return max(first, extent.ends[at] - 1) if at[0] == HEARTBEATS.name else first
