"""The versions of a dimension (a price, a cost); every batch reads them again.

Spark fixes a batch's offsets before its tasks run, and each run reads the dimension's topic to its
end. A version holds only after its notice (`contracts/dimensions.py`), so the version that holds at
the moment that an event names was in the log before the event. All versions after it hold later, so
a live run and a replay use the same ones. A version in an open transaction is in the log, but
cannot be read yet: a run waits for the transaction's end.
"""

from bisect import bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from contracts import Contract, Row, get_contract, holds_from
from contracts.times import EPOCH, MILLISECOND, to_instant
from contracts.validation import Rejection, identify, validate
from infra.kafka import (
    EndOffsets,
    Partition,
    create_admin,
    create_consumer,
    read_assigned,
)
from infra.settings import Settings
from pipelines.common.pipeline import Dimension
from pipelines.common.transform.events import NEVER

READ_SECONDS_MAX = 120.0
"""Longer than a broker of the shop leaves a transaction open (`infra/broker/properties.py`)."""
NEVER_MS = (NEVER - EPOCH) // MILLISECOND


def read_versions(spark: SparkSession, settings: Settings, dimension: Dimension) -> DataFrame:
    """The dimension's versions; each run of a plan with this frame reads them.

    The columns are those of `build_version_schema`.
    """
    topic, since, fields = dimension.topic.name, dimension.since, list_field_names(dimension)
    read = partial(read_rows, settings, topic, since, fields)
    anew = spark.sparkContext.parallelize([0], 1).mapPartitions(read)
    return spark.createDataFrame(anew, build_version_schema(dimension), verifySchema=False)


def list_field_names(dimension: Dimension) -> tuple[str, ...]:
    """The fields that are read of the dimension's topic: its key, then those of its columns."""
    return tuple(dict.fromkeys((*dimension.topic.key, *dimension.columns)))


def list_line_columns(dimension: Dimension) -> list[T.StructField]:
    """The columns that the dimension adds to a line. A time in an event is in milliseconds."""
    own = set(dimension.columns.values())
    return [field for field in build_version_schema(dimension) if field.name in own]


def build_version_schema(dimension: Dimension) -> T.StructType:
    """The topic's key, the dimension's columns, `_since` and `_before`.

    A time in an event is in milliseconds, as in validation.
    """
    kinds = {
        "string": T.StringType(),
        "int": T.LongType(),
        "long": T.LongType(),
        "timestamp": T.LongType(),
    }
    fields = dimension.topic.fields
    types = {field.name: kinds[field.type] for field in fields if field.type in kinds}
    named = {**{name: name for name in dimension.topic.key}, **dimension.columns}
    return T.StructType(
        [
            *[T.StructField(column, types[name]) for name, column in named.items()],
            T.StructField("_since", T.TimestampType()),
            T.StructField("_before", T.TimestampType()),
        ]
    )


class DimensionVersion(NamedTuple):
    """The values of a record of the topic, which hold for its key from a moment on."""

    key: tuple[str, ...]
    since_ms: int
    place: tuple[int, int]  # partition and offset
    values: tuple[Any, ...]


def get_since_ms(version: DimensionVersion) -> int:
    return version.since_ms


def rank_version(version: DimensionVersion) -> tuple[int, tuple[int, int]]:
    """The order of versions. Of two from one moment on, the last published comes last and holds."""
    return version.since_ms, version.place


def to_version(
    topic: Contract,
    since: str,
    fields: Iterable[str],
    place: tuple[int, int],
    published_ms: int,
    event: Row,
) -> DimensionVersion:
    """The version in an accepted event of the topic; `since` names the field with the moment."""
    return DimensionVersion(
        tuple(event[name] for name in topic.key),
        holds_from(event[since], published_ms),
        place,
        tuple(event[name] for name in fields),
    )


def compute_intervals(known: Iterable[DimensionVersion]) -> Iterator[tuple[Any, ...]]:
    """Rows of `build_version_schema`. Of two versions of one moment the last published holds."""
    for _, of_key in groupby(sorted(known), key=lambda version: version.key):
        listed = list(of_key)
        moments = [to_datetime(version.since_ms) for version in listed]
        for version, (since, before) in zip(listed, pairwise([*moments, NEVER]), strict=True):
            if since < before:
                yield (*version.values, since, before)


def read_rows(
    settings: Settings, topic: str, since: str, fields: tuple[str, ...], asked: Iterator[int]
) -> Iterator[tuple[Any, ...]]:
    """Rows of `build_version_schema`; runs in a worker of Spark, which keeps what it has read."""
    deque(asked, maxlen=0)  # Spark ends a worker that does not read its input
    return compute_intervals(get_shared_reader(settings, topic, since, fields).read_to_end())


def get_shared_reader(
    settings: Settings, topic: str, since: str, fields: tuple[str, ...]
) -> "DimensionReader":
    """The reader of this process for these fields of the topic."""
    asked = str(settings.data_dir), settings.kafka_service, topic, since, fields
    found = READERS.get(asked)
    if found is None:
        found = READERS[asked] = DimensionReader(settings, topic, since, fields)
    return found


class DimensionReader:
    """Reads a dimension's topic and keeps the versions that it has read so far."""

    def __init__(self, settings: Settings, topic: str, since: str, fields: Sequence[str]) -> None:
        self._contract = get_contract(topic)
        self._since = since
        self._fields = fields
        self._versions: dict[tuple[int, str, Any], DimensionVersion] = {}
        self._of_key: defaultdict[tuple[str, ...], list[DimensionVersion]] = defaultdict(list)
        """The same versions, in the order in which they hold."""
        self._read: dict[Partition, int] = {}
        self._consumer: Consumer = create_consumer(settings, enable_partition_eof=True)
        # What an open transaction announces may hold for an event of this batch.
        admin, isolation = create_admin(settings), IsolationLevel.READ_UNCOMMITTED
        self._ends = EndOffsets(admin, patient=True, isolation=isolation)

    def read_to_end(self) -> Iterable[DimensionVersion]:
        """All versions of the topic. Raises TimeoutError if Kafka sends nothing for so long, or a
        transaction stays open.
        """
        ends = self._ends.read([self._contract.name])
        left = {at: end for at, end in ends.items() if self._read.get(at, 0) < end}
        if left:
            self._consumer.assign([TopicPartition(*at, self._read.get(at, 0)) for at in left])
            for message in read_assigned(self._consumer, left, READ_SECONDS_MAX):
                self._add(message)
            self._read |= left
            self._consumer.unassign()  # else it would ask for more all the time
        return self._versions.values()

    def _add(self, message: Any) -> None:
        partition, offset = message.partition(), message.offset()
        published_ms = message.timestamp()[1]
        event = validate(self._contract, message.key(), message.value(), published_ms, partition)
        if isinstance(event, Rejection):
            return
        identity = partition, *identify(self._contract, event)
        if identity in self._versions:
            return
        found = to_version(
            self._contract, self._since, self._fields, (partition, offset), published_ms, event
        )
        times = (found.since_ms, *(event[name] for name in self._contract.times))
        if all(to_instant(one) is not None for one in times):  # no event has another moment
            self._versions[identity] = found
            insort(self._of_key[found.key], found, key=rank_version)

    def at(self, key: tuple[str, ...], happened_ms: int) -> tuple[Any, ...] | None:
        """The fields of the version that held for the key at the moment; None where none did."""
        listed = self._of_key.get(key)
        if listed is None or happened_ms >= NEVER_MS:
            return None
        after = bisect_right(listed, happened_ms, key=get_since_ms)
        return listed[after - 1].values if after else None


READERS: dict[tuple[str, str, str, str, tuple[str, ...]], DimensionReader] = {}


def to_datetime(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)
