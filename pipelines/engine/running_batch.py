"""The batch that a query is writing: its plan, what it read and dropped, the size of its state."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.kafka import Offsets, Partition, read_between
from infra.settings import Settings
from ops.generations.marker import read_marker
from ops.generations.record import Generation
from pipelines.engine import archive


class RunningBatch:
    """The newest batch of the query of this name, which is started once."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._name = name
        self._query: StreamingQuery | None = None

    def count_dropped(self) -> int:
        """How many rows came behind the watermark, so that no state has them."""
        plan, jvm = self._find_plan(), self._spark.sparkContext._jvm
        assert plan is not None, "a batch is being written"
        assert jvm is not None, "its session has a gateway"
        return int(jvm.retail.plan.Drops.count(plan))

    def count_read(self) -> int | None:
        """How many records Spark has read. None: its query has none, or no scan of its own."""
        plan = self._find_plan()
        if plan is None:
            return None
        leaves = plan.collectLeaves()
        read = map(leaves.apply, range(leaves.size()))
        # Those that read Kafka for a batch of a stream, and not something beside it.
        scans = [leaf for leaf in read if leaf.nodeName().startswith("MicroBatchScan")]
        rows = [scan.metrics().apply("numOutputRows").value() for scan in scans]
        return sum(rows) if rows else None

    def _find_plan(self) -> JavaObject | None:
        if self._query is None:
            active = self._spark.streams.active
            self._query = next((query for query in active if query.name == self._name), None)
        if self._query is None:
            return None
        return self._query._jsq.streamingQuery().lastExecution().executedPlan()


class StateSize:
    """The size of one generation's state. One thread measures it, another one reads it."""

    def __init__(self) -> None:
        self.size_bytes: int | None = None
        """The bytes in memory and on disk after the last reported batch; None before the first."""

    def measure(self, query: StreamingQuery) -> None:
        # This fetches only two figures from Java: a whole report would cost as much as a batch.
        progress = query._jsq.lastProgress()
        if progress is not None:
            self.size_bytes = sum(map(_measure_operator, progress.stateOperators()))


def _measure_operator(operator: Any) -> int:
    # The figure that the state store adds to Spark's own: the bytes of its files.
    on_disk = operator.customMetrics().get("rocksdbSstFileSize")
    return int(operator.memoryUsedBytes()) + int(on_disk or 0)


@dataclass
class RecordsRead:
    """The numbers of records below the end of each batch, counted from the last marker on.

    Offsets have gaps: the end of a transaction has one, and so has each aborted record. A batch
    that is run again counts once.
    """

    spark: SparkSession
    settings: Settings
    generation: Generation
    archived: Offsets
    """The offsets below which the generation reads the archive."""
    batch: RunningBatch
    _reached: Offsets | None = None
    _counted: Offsets = field(default_factory=dict)

    def count(self, ends: Offsets) -> Offsets:
        """The number of records below each of these offsets, those of the running batch."""
        starts, counted = self._find_last(ends)
        offsets = {partition: end - starts.get(partition, 0) for partition, end in ends.items()}
        more: Mapping[Partition, int] = offsets
        if sum(offsets.values()) != self._count_rows():
            more = self._count_between(starts, ends)
        self._counted = {
            partition: counted.get(partition, 0) + more.get(partition, 0) for partition in ends
        }
        self._reached = ends
        return self._counted

    def _find_last(self, ends: Offsets) -> tuple[Offsets, Offsets]:
        """The offsets and numbers of the last marker; none if it is behind these ends."""
        if self._reached is None:
            marker = read_marker(self.settings, self.generation.pipeline, self.generation.number)
            has_counts = marker is not None and marker.records is not None
            self._reached = marker.inputs if marker and has_counts else {}
            self._counted = marker.records or {} if marker else {}
        if any(offset > ends.get(partition, 0) for partition, offset in self._reached.items()):
            return {}, {}  # the checkpoint is older than the marker
        return self._reached, self._counted

    def _count_rows(self) -> int | None:
        """How many records Spark has read for the running batch; None if it may count some twice.

        A task that is run again on another worker counts its records again.
        """
        is_local = self.settings.spark_master.startswith("local")
        return self.batch.count_read() if is_local else None

    def _count_between(self, starts: Offsets, ends: Offsets) -> Mapping[Partition, int]:
        counts: Counter[Partition] = Counter()
        prefix = {
            partition: min(end, self.archived.get(partition, 0)) for partition, end in ends.items()
        }
        if any(end > starts.get(partition, 0) for partition, end in prefix.items()):
            read = archive.read_records(self.spark, self.settings, starts, prefix)
            for row in read.groupBy("topic", "partition").count().collect():
                counts[row["topic"], row["partition"]] += row["count"]
        begins = {partition: max(starts.get(partition, 0), prefix[partition]) for partition in ends}
        for message in read_between(self.settings, begins, ends):
            counts[str(message.topic()), int(message.partition() or 0)] += 1
        return counts
