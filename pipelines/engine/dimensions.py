"""The versions of a dimension (a price, a cost), read to the topic's end before each batch.

Spark has fixed a batch's offsets by then. A version holds only after its notice
(`contracts/dimensions.py`), so the version that holds at the moment that an event names was in the
log before the event. All versions after it hold later, so a live run and a replay use the same
ones. A version in an open transaction is in the log, but cannot be read yet: a batch waits for the
transaction's end.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from contracts import Contract, Row, encode_key, holds_from
from contracts.times import EPOCH, MILLISECOND, to_instant
from contracts.validation import Rejection, identify, validate
from infra.kafka import EndOffsets, Partition, create_admin, create_consumer, read_assigned
from infra.settings import Settings
from pipelines.common.pipeline import Dimension, Pipeline
from pipelines.common.transform.lines import Lookups
from pipelines.common.transform.validate import NEVER, TYPES

READ_SECONDS_MAX = 120.0
"""Longer than a broker of the shop leaves a transaction open (`infra/broker/properties.py`)."""
VERSIONS_PER_CALL = 10_000
"""Versions that are handed to Java at a time."""


class DimensionVersion(NamedTuple):
    """The values of a record of the topic, which hold for its key from a moment on."""

    key: str
    since_ms: int
    partition: int
    offset: int
    values: tuple[Any, ...]
    """In the order of the dimension's columns; a time is in milliseconds."""


def to_version(
    dimension: Dimension, partition: int, offset: int, published_ms: int, event: Row
) -> DimensionVersion:
    """The version in an accepted event of the topic."""
    return DimensionVersion(
        encode_key(dimension.topic, event).decode(),
        holds_from(event[dimension.since], published_ms),
        partition,
        offset,
        tuple(event[name] for name in dimension.columns),
    )


class Versions:
    """The versions of a dimension, as a function of a session."""

    def __init__(self, spark: SparkSession, dimension: Dimension) -> None:
        jvm = spark._jvm
        assert jvm is not None, "a session that is in use has its Java"
        never_ms = (NEVER - EPOCH) // MILLISECOND
        self.java = jvm.retail.dimension.AsOf(spark.sparkContext._jsc, never_ms)
        self.function = f"as_of_{self.java.name()}"
        kind = jvm.org.apache.spark.sql.types.DataType.fromJson(build_type(dimension).json())
        spark._jsparkSession.udf().register(self.function, self.java, kind)

    def add(self, versions: Sequence[DimensionVersion]) -> None:
        """Have the next batch know these versions too."""
        for start in range(0, len(versions), VERSIONS_PER_CALL):
            self.java.add(json.dumps(versions[start : start + VERSIONS_PER_CALL]))


def build_type(dimension: Dimension) -> T.StructType:
    """The dimension's columns. A time in an event is in milliseconds, as in validation."""
    types = {field.name: field.type for field in dimension.topic.fields}
    return T.StructType(
        [
            T.StructField(column, TYPES["long" if types[name] == "timestamp" else types[name]])
            for name, column in dimension.columns.items()
        ]
    )


class DimensionReader:
    """Reads a dimension's topic, each version once."""

    def __init__(self, settings: Settings, dimension: Dimension) -> None:
        self._dimension = dimension
        self._identities: set[tuple[int, str, Any]] = set()
        self._read: dict[Partition, int] = {}
        self._consumer: Consumer = create_consumer(settings, enable_partition_eof=True)
        # What an open transaction announces may hold for an event of this batch.
        admin, isolation = create_admin(settings), IsolationLevel.READ_UNCOMMITTED
        self._ends = EndOffsets(admin, patient=True, isolation=isolation)

    def read_to_end(self) -> list[DimensionVersion]:
        """The versions that it has not returned before.

        Raises TimeoutError if Kafka sends nothing for so long, or a transaction stays open.
        """
        ends = self._ends.read([self._dimension.topic.name])
        left = {
            partition: end for partition, end in ends.items() if self._read.get(partition, 0) < end
        }
        if not left:
            return []
        self._consumer.assign(
            [TopicPartition(*partition, self._read.get(partition, 0)) for partition in left]
        )
        messages = read_assigned(self._consumer, left, READ_SECONDS_MAX)
        versions = [version for message in messages for version in self._parse(message)]
        self._read |= left
        self._consumer.unassign()  # else it would ask for more all the time
        return versions

    def _parse(self, message: Any) -> Iterator[DimensionVersion]:
        """The version in a record, unless it is rejected, a copy, or holds at no event's moment."""
        topic: Contract = self._dimension.topic
        partition, published_ms = message.partition(), message.timestamp()[1]
        event = validate(topic, message.key(), message.value(), published_ms, partition)
        if isinstance(event, Rejection):
            return
        identity = partition, *identify(topic, event)
        if identity in self._identities:
            return
        version = to_version(self._dimension, partition, message.offset(), published_ms, event)
        times = (version.since_ms, *(event[name] for name in topic.times))
        if all(to_instant(time) is not None for time in times):
            self._identities.add(identity)
            yield version


class Dimensions:
    """The dimensions of a pipeline in a session, and the readers of their topics."""

    def __init__(self, spark: SparkSession, settings: Settings, pipeline: Pipeline) -> None:
        self._sources = {
            dimension: (DimensionReader(settings, dimension), Versions(spark, dimension))
            for dimension in pipeline.dimensions
        }

    @property
    def lookups(self) -> Lookups:
        return {dimension: versions.function for dimension, (_, versions) in self._sources.items()}

    def read_to_end(self) -> None:
        """Have the next batch know every version that its events may name."""
        for reader, versions in self._sources.values():
            versions.add(reader.read_to_end())
