"""Follows the control topics: pipelines, their generations and markers, and the world clock."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

from contracts import CLOCKS, CONTRACTS, GENERATIONS, HEARTBEATS, MARKERS
from contracts.times import to_epoch_ms
from infra.kafka import Partition
from ops.control.world_clock import BEATS_READ_MAX, AnnouncedClock, choose_beat_ms
from ops.generations.marker import Marker
from ops.generations.record import Generations
from services.api.store.background import Background
from services.api.store.changelog import Changelog, End, Extent, Record, follow, read_row

TOPICS = (GENERATIONS.name, MARKERS.name, CLOCKS.name, HEARTBEATS.name)


class Control(Background):
    """A thread that passes on every control record, beginning with the newest of each pipeline."""

    def __init__(
        self,
        open_log: Callable[[Iterable[str]], AbstractContextManager[Changelog]],
        on_generations: Callable[[Generations], None],
    ) -> None:
        super().__init__("control", trouble="the control topics have not been read yet")
        self.world: AnnouncedClock | None = None
        self.markers: dict[tuple[str, int], Marker] = {}  # by pipeline and generation
        self._clock: AnnouncedClock | None = None
        self._beats: deque[int] = deque(maxlen=BEATS_READ_MAX)
        self._open_log = open_log
        self._on_generations = on_generations

    def run_once(self) -> None:
        with self._open_log(TOPICS) as topics:
            extent = topics.read_extent()
            start = {partition: _find_start(partition, extent) for partition in extent.starts}
            newest: dict[tuple[Partition, bytes | int], Record] = {}
            for arrived, is_whole in follow(topics, extent, start, self.stopping.is_set):
                for each in arrived:
                    if isinstance(each, End):
                        continue
                    if each.partition[0] == HEARTBEATS.name:
                        newest[each.partition, each.offset] = each
                    # The next good marker comes soon. Of others a bad one must hide no good one.
                    elif each.partition[0] == MARKERS.name or _is_good(each):
                        newest[each.partition, each.key] = each
                if is_whole:  # until then a record may be outdated
                    self.clear_trouble()
                    for record in newest.values():
                        self._apply(record)
                    newest.clear()

    def _apply(self, record: Record) -> None:
        if record.value is None:
            if record.partition[0] == GENERATIONS.name:
                pipeline = record.key.decode(errors="replace")
                self._on_generations(Generations(pipeline))
                for key in [key for key in self.markers if key[0] == pipeline]:
                    del self.markers[key]
            return
        value = read_row(CONTRACTS[record.partition[0]], record)
        if value is None:
            return
        if record.partition[0] == GENERATIONS.name:
            self._on_generations(Generations.parse(value))
        elif record.partition[0] == MARKERS.name:
            marker = Marker.parse(value)
            self.markers[marker.pipeline, marker.generation] = marker
        elif record.partition[0] == HEARTBEATS.name:
            self._beats.append(to_epoch_ms(value["event_time"]))
        else:
            self._clock = AnnouncedClock.parse(value)
        if self._clock is not None:
            self.world = replace(self._clock, beat_ms=choose_beat_ms([*self._beats]))


def _is_good(record: Record) -> bool:
    """Whether the record is a deletion, or is not set aside."""
    return record.value is None or read_row(CONTRACTS[record.partition[0]], record) is not None


def _find_start(partition: Partition, extent: Extent) -> int:
    """The first offset to read: of the heartbeats, which are never deleted, the last ones."""
    first = extent.starts[partition]
    return (
        max(first, extent.ends[partition] - BEATS_READ_MAX)
        if partition[0] == HEARTBEATS.name
        else first
    )
