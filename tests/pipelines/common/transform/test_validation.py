"""Java and Python say the same of any bytes, of every limit, and of a key."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from contracts import (
    BEST_SELLERS,
    BOOKS,
    HEARTBEATS,
    RECEIPTS,
    RELEASES,
    STOCK_LEVELS,
    Contract,
    Row,
    encode,
    encode_key,
    get_contract,
    render_spark_ddl,
)
from contracts.partitions import choose_partition
from contracts.projection import list_leaves
from contracts.shape import Field
from contracts.times import EPOCH, MILLISECOND
from contracts.validation import RELEASABLE, VALIDATED, Rejection, identify, unwrap, validate
from pipelines.common.transform.rows import encode_key as encode_key_in_spark
from pipelines.common.transform.validate import META, NEVER, name_column
from pipelines.common.transform.validate import validate as validate_records
from pipelines.engine.archive import RECORD
from tests.contracts.around import list_around
from tests.pipelines.dirt import Sent, damage, list_records
from tests.pipelines.log import OPENING, build_log, create_frame, receipt

pytestmark = pytest.mark.spark

MICROSECOND, MINUTE = timedelta(microseconds=1), timedelta(minutes=1)
NEVER_US = (NEVER - EPOCH) // MICROSECOND

SOONEST = (RECEIPTS.name, RELEASES.name)
"""The topic with most in it, and the one that wraps records of the others."""

numbers = count()


@pytest.mark.parametrize(
    "name",
    [
        name if name in SOONEST else pytest.param(name, marks=pytest.mark.thorough)
        for name in VALIDATED
    ],
)
def test_java_says_of_any_bytes_what_python_says(spark: SparkSession, name: str) -> None:
    topic = VALIDATED[name]
    reads = (RELEASES, *RELEASABLE.values()) if topic is RELEASES else (topic,)
    log = list(list_dirt(topic))
    rows = [
        (name, find_partition(topic, number, sent), number, find_published(number), *sent)
        for number, sent in enumerate(log)
    ]
    expected = [judge(reads, topic, *row[1:]) for row in rows]
    every_field = {
        contract: [path for path, _ in list_leaves(contract.fields)] for contract in reads
    }
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    found = list_rows(reads, validate_records(every_field, records))
    wrong = [each for each in zip(rows, expected, found, strict=True) if each[1] != each[2]]
    assert wrong == []
    assert len({row["_reason"] for row in expected}) > 5
    assert {row["_of"] for row in expected if row["_reason"] is None} >= {
        contract.name for contract in reads if contract is not RELEASES
    }


def list_dirt(topic: Contract) -> Iterator[Sent]:
    """Good and bad records of the topic; of releases also such as wrap good and bad ones."""
    yield from list_records(topic)
    yield from damage(topic)
    if topic is not RELEASES:
        return
    for original in RELEASABLE.values():
        good = list_records(original)[0]
        others = [*list_records(original), *damage(original)][::5]
        for of_key, value in [good] * 20 + others:
            for wrapping in (original, RELEASES):
                release = create_release(original, wrapping, of_key or b"", value or b"")
                yield encode_key(RELEASES, release), encode(RELEASES, release)


def create_release(original: Contract, wrapping: Contract, of_key: bytes, value: bytes) -> Row:
    """A release; of what the examples of the contract have as their id."""
    return {
        **RELEASES.examples[0],
        "event_id": f"L-{next(numbers)}",
        "event_time": OPENING,
        "topic": wrapping.name,
        "record_key": of_key.decode(errors="replace"),
        "original_event_id": original.examples[0]["event_id"],
        "value": value,
    }


def find_partition(topic: Contract, number: int, sent: Sent) -> int:
    """The partition of the key, but for some of the records."""
    return choose_partition(sent[0] or b"", topic.settings.partitions) + (number % 7 == 0)


def find_published(number: int) -> datetime:
    return OPENING + timedelta(minutes=number % 400 - 60)


def judge(
    reads: Sequence[Contract],
    topic: Contract,
    partition: int,
    offset: int,
    published: datetime,
    key: bytes | None,
    value: bytes | None,
) -> dict[str, Any]:
    """What Python says of a record, in the columns of Spark; times are in microseconds."""
    published_us = (published - EPOCH) // MICROSECOND
    said = {"_topic": topic.name, "_partition": partition, "_published": published_us}
    found = validate(topic, key, value, published_us // 1_000, partition)
    nothing = {name_column(contract): None for contract in reads}
    if isinstance(found, Rejection):
        rejected = topic.name, found.reason, str(offset), NEVER_US, None, 0
        return {**said, **dict(zip(META[3:], rejected, strict=True)), **nothing}
    identity, at_ms = identify(topic, found)
    events, clock_us, of = {name_column(topic): to_row(topic.fields, found)}, at_ms * 1_000, topic
    if topic is RELEASES:
        of, event = get_contract(found["topic"]), unwrap(found)
        assert not isinstance(event, Rejection), "a release is accepted with what it wraps"
        original, at_ms = identify(of, event)
        identity, clock_us = f"{of.name}/{original}", NEVER_US
        events[name_column(of)] = to_row(of.fields, event)
    beat_us = 0
    if topic is HEARTBEATS:
        identity, beat_us = str(offset), clock_us
    accepted = of.name, None, identity, clock_us, at_ms * 1_000, beat_us
    return {**said, **dict(zip(META[3:], accepted, strict=True)), **nothing, **events}


def to_row(fields: Sequence[Field], event: Row) -> dict[str, Any]:
    return {field.name: to_value(field, event[field.name]) for field in fields}


def to_value(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.fields:
        return [to_row(field.fields, item) for item in value]
    return value * 1_000 if field.type == "timestamp" else value


def list_rows(reads: Sequence[Contract], frame: DataFrame) -> list[dict[str, Any]]:
    """The rows with times in microseconds: Spark has times that no calendar of Python has."""
    columns = [count_microseconds(F.col(name), frame.schema[name].dataType) for name in META]
    for contract in reads:
        event, kind = F.col(name_column(contract)), frame.schema[name_column(contract)].dataType
        assert isinstance(kind, T.StructType)
        fields = [
            count_microseconds(event[field.name], field.dataType).alias(field.name)
            for field in kind
        ]
        columns.append(F.when(event.isNotNull(), F.struct(*fields)))
    names = [*META, *map(name_column, reads)]
    rows = frame.select(*[each.alias(name) for each, name in zip(columns, names, strict=True)])
    return [to_plain(row.asDict(recursive=True)) for row in rows.collect()]


def count_microseconds(value: Column, kind: T.DataType) -> Column:
    return F.unix_micros(value) if isinstance(kind, T.TimestampType) else value


def to_plain(value: Any) -> Any:
    """The value with bytes as Python has them."""
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def test_every_record_is_validated_and_a_bad_one_has_a_reason(spark: SparkSession) -> None:
    log = build_log(
        receipt(),
        receipt(after=120 * MINUTE),  # the last moment of the horizon
        receipt(after=120 * MINUTE + MILLISECOND),
        receipt(after=-5 * MINUTE),  # the skew of a clock
        receipt(after=-5 * MINUTE - MILLISECOND),
        receipt(("A", 0)),
    )
    good, whole = log[0], log[0].value or b""
    unregistered = b"\0\xff\xff\xff\xffwhatever"
    log += [replace(good, value=value) for value in (None, unregistered, whole[:-4])]
    log.append(replace(good, key=b"S002"))
    found = validate_records({RECEIPTS: ()}, create_frame(spark, log).coalesce(1)).collect()
    assert [row["_reason"] for row in found] == [
        *(None, None, "late", None, "future", "lines[].units is at least 1"),
        *("undecodable",) * 3,
        "wrong-key",
    ]


BYTES_MAX = 1_000_000
"""Of a record: what is larger never reaches a pipeline."""


@pytest.mark.parametrize("name", [topic for topic in VALIDATED if topic != RELEASES.name])
def test_spark_and_python_see_a_limit_at_the_same_place(spark: SparkSession, name: str) -> None:
    agreed = VALIDATED[name]
    rows, expected = [], []
    for offset, example in enumerate(list_around(agreed)):
        value = encode(agreed, example.value)
        if len(value) > BYTES_MAX:
            continue
        published = example.value[str(agreed.event_time)]
        row = encode_key(agreed, example.value), value
        partition = choose_partition(row[0], agreed.settings.partitions)
        verdict = validate(agreed, *row, round(published.timestamp() * 1000), partition)
        rows.append((name, partition, offset, published, *row))
        expected.append(verdict.reason if isinstance(verdict, Rejection) else None)
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    reasons = [
        row["_reason"]
        for row in validate_records({agreed: ()}, records).select("_reason").collect()
    ]
    assert reasons == expected
    assert len(set(expected)) > 2


@pytest.mark.parametrize("view", [STOCK_LEVELS, BOOKS, BEST_SELLERS], ids=str)
def test_spark_and_python_spell_a_key_alike(spark: SparkSession, view: Contract) -> None:
    example: dict[str, Any] = dict(view.examples[0])
    row = spark.createDataFrame([example], render_spark_ddl(view))
    key = encode_key_in_spark(view, {name: F.col(name) for name in row.columns})
    [[encoded]] = row.select(key).collect()
    assert encoded.encode() == encode_key(view, example)
