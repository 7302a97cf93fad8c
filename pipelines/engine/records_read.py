"""How many records a generation has read of each partition, as its markers say.

Offsets have gaps: the end of a transaction has one, and so has each aborted record. What a batch
read is counted from the last marker on, so a batch that is run again counts once.
"""

from collections import Counter
from collections.abc import Mapping

from pyspark.sql import SparkSession

from infra.kafka import Offsets, Partition, read_between
from infra.settings import Settings
from ops.generations.marker import read_marker
from ops.generations.record import Generation
from pipelines.engine import archive
from pipelines.engine.running_batch import RunningBatch


class RecordsRead:
    """The numbers of records below the end of each batch."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        generation: Generation,
        archived: Offsets,
        batch: RunningBatch,
    ) -> None:
        """`archived`: the offsets below which the generation reads the archive."""
        self._spark = spark
        self._settings = settings
        self._generation = generation
        self._archived = archived
        self._batch = batch
        self._reached: Offsets | None = None
        self._counted: Offsets = {}

    def count(self, ends: Offsets) -> Offsets:
        """The number of records below each of these offsets, those of the running batch."""
        starts, counted = self._find_last(ends)
        offsets = {at: end - starts.get(at, 0) for at, end in ends.items()}
        more: Mapping[Partition, int] = offsets
        if sum(offsets.values()) != self._count_rows():
            more = self._count_between(starts, ends)
        self._counted = {at: counted.get(at, 0) + more.get(at, 0) for at in ends}
        self._reached = ends
        return self._counted

    def _find_last(self, ends: Offsets) -> tuple[Offsets, Offsets]:
        """The offsets and numbers of the last marker; none if it is behind these ends."""
        if self._reached is None:
            marker = read_marker(self._settings, self._generation.pipeline, self._generation.number)
            has_counts = marker is not None and marker.records is not None
            self._reached = marker.inputs if marker and has_counts else {}
            self._counted = marker.records or {} if marker else {}
        if any(offset > ends.get(at, 0) for at, offset in self._reached.items()):
            return {}, {}  # the checkpoint is older than the marker
        return self._reached, self._counted

    def _count_rows(self) -> int | None:
        """How many records Spark has read for the running batch; None if it may count some twice.

        A task that is run again on another worker counts its records again.
        """
        is_local = self._settings.spark_master.startswith("local")
        return self._batch.count_read() if is_local else None

    def _count_between(self, starts: Offsets, ends: Offsets) -> Mapping[Partition, int]:
        counts: Counter[Partition] = Counter()
        prefix = {at: min(end, self._archived.get(at, 0)) for at, end in ends.items()}
        if any(end > starts.get(at, 0) for at, end in prefix.items()):
            read = archive.read_records(self._spark, self._settings, starts, prefix)
            for row in read.groupBy("topic", "partition").count().collect():
                counts[row["topic"], row["partition"]] += row["count"]
        begins = {at: max(starts.get(at, 0), prefix[at]) for at in ends}
        for message in read_between(self._settings, begins, ends):
            counts[str(message.topic()), int(message.partition() or 0)] += 1
        return counts
