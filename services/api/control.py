"""Follows the control topics: which generations there are, and what time it is in the world."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

from contracts import CLOCKS, GENERATIONS, HEARTBEATS
from infra.kafka import Partition
from services.api.background import Background
from services.api.changelog import End, Extent, Log, Record
from services.api.generation import Promotion
from services.api.marker import epoch_ms
from services.api.reading import decode
from services.api.world import WorldClock

TOPICS = (GENERATIONS.name, CLOCKS.name, HEARTBEATS.name)


class Control(Background):
    """A thread that hands every promotion on, from the newest one on."""

    def __init__(
        self,
        open_log: Callable[[Iterable[str]], AbstractContextManager[Log]],
        on_promotion: Callable[[Promotion], None],
    ) -> None:
        super().__init__("control", trouble="the control topics have not been read yet")
        self.world: WorldClock | None = None
        self._clock: WorldClock | None = None
        self._beat_ms: int | None = None
        self._open_log = open_log
        self._on_promotion = on_promotion

    def turn(self) -> None:
        with self._open_log(TOPICS) as topics:
            extent = topics.extent()
            topics.start({at: _first(at, extent) for at in extent.starts})
            unread = set(extent.starts)  # partitions whose end has not been seen
            newest: dict[tuple[Partition, bytes], Record] = {}
            while not self.stopping.is_set():
                for each in topics.read():
                    if isinstance(each, End):
                        unread.discard(each.partition)
                    else:
                        newest[each.partition, each.key] = each
                if not unread:  # until then a record may be long out of date
                    self.well()
                    for record in newest.values():
                        self._take(record)
                    newest.clear()

    def _take(self, record: Record) -> None:
        if record.value is None:
            if record.partition[0] == GENERATIONS.name:
                self._on_promotion(Promotion.end(record.key.decode()))
            return
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
