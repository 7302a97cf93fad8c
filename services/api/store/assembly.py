"""Aligns the rows of changelogs with markers: a database is consistent at a marker only.

Rows and markers arrive on different partitions in any order. A row may be applied once a later
marker is known. A marker may be committed once every partition has been read up to it. Rows after
the last known marker wait, at most ROWS_WAITING_MAX per partition; the caller pauses a partition
with more. A waiting partition has passed the target, so its pause does not delay the target.
"""

from collections import deque
from typing import Generic, TypeVar

from infra.kafka import Offsets, Partition
from services.api.store.marker import Marker

ROWS_WAITING_MAX = 20_000

Row = TypeVar("Row")


class Assembly(Generic[Row]):
    """Rows that wait for the next commit. It knows neither Kafka nor the database."""

    def __init__(self, start: Offsets, batch: int | None) -> None:
        """Begin at these offsets, with the marker of this batch already committed."""
        self.reached: dict[Partition, int] = dict(start)
        self.target: Marker | None = None
        self._start: Offsets = dict(start)
        self._batch = -1 if batch is None else batch
        self._newest: Marker | None = None
        self._waiting: dict[Partition, deque[tuple[int, Row]]] = {
            partition: deque() for partition in start
        }
        self._ready: list[tuple[Partition, Row]] = []

    def add(self, partition: Partition, offset: int, row: Row | None) -> None:
        """Add the row at an offset; None where the record is of another pipeline."""
        if offset < self.reached[partition]:
            return  # read again after a pause
        self.reached[partition] = offset + 1
        if row is None:
            return
        if self.target is not None and offset < self.target.outputs.get(partition, 0):
            self._ready.append((partition, row))
        else:
            self._waiting[partition].append((offset, row))

    def note_end(self, partition: Partition, offset: int) -> None:
        """Note the end of a partition: after compaction, no record may mark it."""
        self.reached[partition] = max(self.reached[partition], offset)

    def mark(self, marker: Marker) -> None:
        """Take a marker, unless its batch is older than the newest: a fenced process wrote it.

        A repeated batch has a second marker.
        """
        batches = [each.batch for each in (self._newest, self.target) if each is not None]
        if marker.batch >= max([self._batch, *batches]):
            self._newest = marker

    def set_target(self) -> None:
        """Make the newest marker the target, unless there is a target.

        The newest and not the next: compaction may have removed rows before an older marker in
        favour of later rows of the same keys. A target stays until it is reached, however fast new
        markers arrive.
        """
        if self.target is not None or self._newest is None:
            return
        self.target, self._newest = self._newest, None
        for partition, waiting in self._waiting.items():
            limit = self.target.outputs.get(partition, 0)
            while waiting and waiting[0][0] < limit:
                self._ready.append((partition, waiting.popleft()[1]))

    def take_ready(self) -> list[tuple[Partition, Row]]:
        """Take out the rows that lie before the target."""
        rows, self._ready = self._ready, []
        return rows

    def find_complete(self) -> Marker | None:
        """The target, if every partition has been read up to it."""
        if self.target is None or self._ready:
            return None
        outputs = self.target.outputs.items()
        if any(self.reached.get(partition, 0) < offset for partition, offset in outputs):
            return None
        return self.target

    def finish(self) -> None:
        """Note that the target and its rows are committed."""
        assert self.target is not None
        self._batch, self._start = self.target.batch, self.target.outputs
        self.target = None

    def list_full(self) -> set[Partition]:
        """The partitions to pause."""
        return {
            partition for partition, rows in self._waiting.items() if len(rows) >= ROWS_WAITING_MAX
        }

    def measure_progress(self) -> tuple[int, int]:
        """Offsets read, and offsets to read, up to the target; (0, 0) without one."""
        if self.target is None:
            return 0, 0
        read = total = 0
        for partition, offset in self.target.outputs.items():
            start = self._start.get(partition, 0)
            read += min(self.reached.get(partition, 0), offset) - start
            total += offset - start
        return read, total
