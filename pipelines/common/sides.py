"""What holds from a moment on (a price, a cost), read anew for every batch.

A batch's offsets are fixed before its tasks run, and each run reads the side's topic to its end. A
fact holds only after its notice (`contracts/facts.py`), so what holds at the moment that an event
names was in the log before the event. What is read besides holds later: a live run and a replay see
the same facts hold.
"""

import time
from bisect import bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, TopicPartition
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from contracts import Contract, Row, contract, holds_from
from contracts.judging import Rejection, instant, judge
from infra.kafka import Partition, admin, consumer, end_offsets
from infra.settings import Settings
from pipelines.common.events import NEVER
from pipelines.common.pipeline import AsOf

READ_SECONDS_MAX = 30.0
RECORDS_PER_POLL_MAX = 1_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER_MS = (NEVER - EPOCH) // timedelta(milliseconds=1)


def live(spark: SparkSession, settings: Settings, side: AsOf) -> DataFrame:
    """The facts of a side as they stand whenever a plan with this frame runs."""
    read = partial(facts, settings, side.topic.name, side.since, looked_up(side))
    anew = spark.sparkContext.parallelize([0], 1).mapPartitions(read)
    return spark.createDataFrame(anew, schema(side), verifySchema=False)


def looked_up(side: AsOf) -> tuple[str, ...]:
    """The fields of the side's topic that are read: its key, then what its columns hold."""
    return tuple(dict.fromkeys((*side.topic.key, *side.columns)))


def columns(side: AsOf) -> list[T.StructField]:
    """What the side adds to a line. A time that an event names is in milliseconds."""
    own = set(side.columns.values())
    return [field for field in schema(side) if field.name in own]


def schema(side: AsOf) -> T.StructType:
    """The side's columns. A time that an event names is in milliseconds, as it was judged."""
    kinds = {
        "string": T.StringType(),
        "int": T.LongType(),
        "long": T.LongType(),
        "timestamp": T.LongType(),
    }
    types = {field.name: kinds[field.type] for field in side.topic.fields if field.type in kinds}
    named = {**{name: name for name in side.topic.key}, **side.columns}
    return T.StructType(
        [
            *[T.StructField(column, types[name]) for name, column in named.items()],
            T.StructField("_since", T.TimestampType()),
            T.StructField("_before", T.TimestampType()),
        ]
    )


class Fact(NamedTuple):
    """What a record of the topic says: it holds for the key from a moment on."""

    key: tuple[str, ...]
    since_ms: int
    place: tuple[int, int]  # partition and offset
    values: tuple[Any, ...]


def since_ms(fact: Fact) -> int:
    return fact.since_ms


def order(fact: Fact) -> tuple[int, tuple[int, int]]:
    """Of two facts from one moment on, the one published last holds: it comes last."""
    return fact.since_ms, fact.place


def fact(
    topic: Contract,
    since: str,
    fields: Iterable[str],
    place: tuple[int, int],
    published_ms: int,
    event: Row,
) -> Fact:
    """What an accepted event of the topic says; `since` is the field that names the moment."""
    return Fact(
        tuple(event[name] for name in topic.key),
        holds_from(event[since], published_ms),
        place,
        tuple(event[name] for name in fields),
    )


def intervals(known: Iterable[Fact]) -> Iterator[tuple[Any, ...]]:
    """Rows of the side. Of two facts from one moment on, the one published last holds."""
    for _, of_key in groupby(sorted(known), key=lambda fact: fact.key):
        listed = list(of_key)
        moments = [moment(fact.since_ms) for fact in listed]
        for fact, (since, before) in zip(listed, pairwise([*moments, NEVER]), strict=True):
            if since < before:
                yield (*fact.values, since, before)


def facts(
    settings: Settings, topic: str, since: str, fields: tuple[str, ...], asked: Iterator[int]
) -> Iterator[tuple[Any, ...]]:
    """The side's rows; runs in a worker of Spark, which remembers what it has read before."""
    deque(asked, maxlen=0)  # Spark ends a worker that leaves its input unread
    return intervals(reader(settings, topic, since, fields).to_the_end())


def reader(settings: Settings, topic: str, since: str, fields: tuple[str, ...]) -> "Reader":
    """The one of this process that reads this of the topic."""
    side = str(settings.data_dir), topic, since, fields
    found = READERS.get(side)
    if found is None:
        found = READERS[side] = Reader(settings, topic, since, fields)
    return found


class Reader:
    """A topic of facts, read as far as this worker has come."""

    def __init__(self, settings: Settings, topic: str, since: str, fields: Sequence[str]) -> None:
        self._contract = contract(topic)
        self._since = since
        self._fields = fields
        self._facts: dict[str, Fact] = {}
        self._of_key: defaultdict[tuple[str, ...], list[Fact]] = defaultdict(list)
        """The same facts, in the order in which they hold."""
        self._read: dict[Partition, int] = {}
        self._consumer: Consumer = consumer(settings)
        self._admin = admin(settings)

    def to_the_end(self) -> Iterable[Fact]:
        """All facts of the topic. Raises TimeoutError when its end is not reached in time."""
        ends = end_offsets(self._admin, [self._contract.name])
        left = {at: end for at, end in ends.items() if self._read.get(at, 0) < end}
        if left:
            self._consumer.assign([TopicPartition(*at, self._read.get(at, 0)) for at in left])
        deadline = time.monotonic() + READ_SECONDS_MAX
        while any(self._read.get(at, 0) < end for at, end in left.items()):
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{self._contract.name} should be read to its end within "
                    f"{READ_SECONDS_MAX:g} s, but was not. See: make logs COMPONENT=broker"
                )
            for message in self._consumer.consume(RECORDS_PER_POLL_MAX, timeout=0.1):
                self._take(message)
        return self._facts.values()

    def _take(self, message: Any) -> None:
        if message.error() is not None:
            raise KafkaException(message.error())
        partition, offset = message.partition(), message.offset()
        self._read[self._contract.name, partition] = offset + 1
        published_ms = message.timestamp()[1]
        event = judge(self._contract, message.key(), message.value(), published_ms)
        if isinstance(event, Rejection) or event["event_id"] in self._facts:
            return
        found = fact(
            self._contract, self._since, self._fields, (partition, offset), published_ms, event
        )
        times = (found.since_ms, *(event[name] for name in self._contract.times))
        if all(instant(one) is not None for one in times):  # no event is of any other moment
            self._facts[event["event_id"]] = found
            insort(self._of_key[found.key], found, key=order)

    def at(self, key: tuple[str, ...], happened_ms: int) -> tuple[Any, ...] | None:
        """The fields of the fact that held for the key at the moment; None where none did."""
        listed = self._of_key.get(key)
        if listed is None or happened_ms >= NEVER_MS:
            return None
        after = bisect_right(listed, happened_ms, key=since_ms)
        return listed[after - 1].values if after else None


READERS: dict[tuple[str, str, str, tuple[str, ...]], Reader] = {}


def moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)
