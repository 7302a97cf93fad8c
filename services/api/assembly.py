"""Which rows of a changelog may be applied, and when the whole is consistent: at a marker.

Rows and markers arrive on different partitions in any order. A row may be applied once a marker
is known that lies behind it; the marker may be committed once every partition has been read up
to it. Rows behind no known marker wait, at most ROWS_WAITING_MAX per partition: beyond that the
partition is to be paused. A waiting partition has reached the target, so pausing it cannot keep
the target from being reached.
"""

from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

from infra.kafka import Partition
from services.api.marker import Marker, Offsets

ROWS_WAITING_MAX = 20_000

Row = TypeVar("Row")


class Assembly(Generic[Row]):
    """Rows on their way to the next commit. Knows neither Kafka nor the database."""

    def __init__(self, start: Offsets, batch: int | None) -> None:
        """Begin at these offsets, with the marker of this batch already committed."""
        self.reached: dict[Partition, int] = dict(start)
        self.target: Marker | None = None
        self._start: Offsets = dict(start)
        self._batch = -1 if batch is None else batch
        self._newest: Marker | None = None
        self._waiting: dict[Partition, deque[tuple[int, Row]]] = {at: deque() for at in start}
        self._ready: list[tuple[Partition, Row]] = []

    def add(self, partition: Partition, offset: int, row: Row | None) -> None:
        """Take the row at an offset; None when the record there is not for this view."""
        if offset < self.reached[partition]:
            return  # read again after a pause
        self.reached[partition] = offset + 1
        if row is None:
            return
        if self.target is not None and offset < self.target.outputs.get(partition, 0):
            self._ready.append((partition, row))
        else:
            self._waiting[partition].append((offset, row))

    def end(self, partition: Partition, offset: int) -> None:
        """Note the log's end: where compaction has removed records, nothing else says so."""
        self.reached[partition] = max(self.reached[partition], offset)

    def mark(self, marker: Marker) -> None:
        """Take a marker, unless it is of an older batch: then a process that should be gone
        wrote it. The same batch may be marked again, after it was run again.
        """
        if marker.batch >= self._newest_batch():
            self._newest = marker

    def aim(self) -> None:
        """Make the newest marker the target, unless one is being approached.

        The newest and not the next: compaction may have removed rows that an older marker
        counts, because newer rows of the same keys stand behind it. And a fixed target is
        reached however fast new markers come.
        """
        if self.target is not None or self._newest is None:
            return
        self.target, self._newest = self._newest, None
        for partition, waiting in self._waiting.items():
            limit = self.target.outputs.get(partition, 0)
            while waiting and waiting[0][0] < limit:
                self._ready.append((partition, waiting.popleft()[1]))

    def ready(self) -> list[tuple[Partition, Row]]:
        """Hand over the rows that lie before the target."""
        rows, self._ready = self._ready, []
        return rows

    def complete(self) -> Marker | None:
        """The target, once every partition has been read up to it."""
        if self.target is None or self._ready:
            return None
        outputs = self.target.outputs.items()
        if any(self.reached.get(partition, 0) < offset for partition, offset in outputs):
            return None
        return self.target

    def committed(self) -> None:
        """The target and its rows are stored."""
        assert self.target is not None
        self._batch, self._start = self.target.batch, self.target.outputs
        self.target = None

    def full(self) -> set[Partition]:
        """Partitions that should not be read on for now."""
        return {at for at, rows in self._waiting.items() if len(rows) >= ROWS_WAITING_MAX}

    def progress(self) -> tuple[int, int]:
        """Offsets read of offsets to read up to the target; (0, 0) while none is known."""
        if self.target is None:
            return 0, 0
        outputs = self.target.outputs.items()
        starts = {partition: self._start.get(partition, 0) for partition, _ in outputs}
        read = (min(self.reached.get(at, 0), offset) - starts[at] for at, offset in outputs)
        return sum(read), sum(offset - starts[at] for at, offset in outputs)

    def _newest_batch(self) -> int:
        known: Iterable[Marker | None] = (self._newest, self.target)
        return max([self._batch, *(marker.batch for marker in known if marker)])
