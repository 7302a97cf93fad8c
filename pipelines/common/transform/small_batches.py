"""From records to events in Python, for batches so small that a plan costs more than its records.

It uses contracts/validation.py, and gives the same columns for the same bytes as
pipelines/common/transform/events.py. That form is a plan several times as large as all later steps,
and is faster from some thousand records on. A checkpoint of one form continues in the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from contracts import HEARTBEATS, RELEASES, Contract, Row, get_contract
from contracts.consumer import list_declared
from contracts.projection import project_fields
from contracts.shape import Field
from contracts.validation import Rejection, identify, unwrap, validate
from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.as_of_join import Lookup, name_as_of_column
from pipelines.common.transform.declared import refuse_undeclared
from pipelines.common.transform.dimensions import DimensionReader, list_line_columns
from pipelines.common.transform.events import BEFORE_ALL, NEVER, name_column

META = T.StructType(
    [
        T.StructField("_topic", T.StringType()),
        T.StructField("_partition", T.IntegerType()),
        T.StructField("_published", T.TimestampType()),
        T.StructField("_of", T.StringType()),
        T.StructField("_reason", T.StringType()),
        T.StructField("_identity", T.StringType()),
        T.StructField("_clock", T.TimestampType()),
        T.StructField("event_time", T.TimestampType()),
        T.StructField("_beat", T.TimestampType(), nullable=False),
    ]
)
"""The columns of events.META."""

TYPES: Mapping[str, T.DataType] = {
    "string": T.StringType(),
    "bytes": T.BinaryType(),
    "int": T.LongType(),  # as Spark's form decodes them
    "long": T.LongType(),
    "boolean": T.BooleanType(),
    "timestamp": T.TimestampType(),
}
MICROSECONDS = 1_000
"""In a millisecond."""


def validate_batch(pipeline: Pipeline, records: DataFrame, settings: Settings) -> DataFrame:
    """One row per record: the columns of META, its event, and the dimension versions of its lines.

    Each topic that the pipeline reads has a column with its event, which has the declared fields;
    it is null for a rejected record. Each dimension has a column, by `name_as_of_column`. It holds
    an array: for each line the version that held, or null. An event without lines is its own line.
    Raises Undeclared.
    """
    for dimension in pipeline.dimensions:
        refuse_undeclared(pipeline, dimension)
    fields = {
        topic.name: project_fields(topic.fields, list_declared(pipeline.name, topic))
        for topic in pipeline.reads
    }
    shape = T.StructType(
        [
            *META,
            *[
                T.StructField(name_column(topic), build_struct(fields[topic.name]))
                for topic in pipeline.reads
            ],
            *[
                T.StructField(
                    name_as_of_column(number), T.ArrayType(T.StructType(list_line_columns(one)))
                )
                for number, one in enumerate(pipeline.dimensions)
            ],
        ]
    )
    validation = Validation(
        to_arrow_schema(shape, timezone="UTC"),
        tuple(fields),
        tuple(map(Lookup.of, pipeline.dimensions)),
        settings,
    )
    taken = records.select("topic", "partition", "offset", "timestamp", "key", "value")
    return taken.mapInArrow(partial(validate_batches, validation), shape)


@dataclass(frozen=True)
class Validation:
    """The parameters of validation in a worker."""

    schema: pa.Schema
    """The schema of its rows."""
    reads: tuple[str, ...]
    lookups: tuple[Lookup, ...]
    settings: Settings


def build_struct(fields: Iterable[Field]) -> T.StructType:
    return T.StructType(
        [
            T.StructField(
                one.name, T.ArrayType(build_struct(one.fields)) if one.fields else TYPES[one.type]
            )
            for one in fields
        ]
    )


def validate_batches(
    asked: Validation, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """One row of the schema per record; runs in a worker of Spark."""
    readers = [lookup.get_reader(asked.settings) for lookup in asked.lookups]
    for reader in readers:
        reader.read_to_end()
    for batch in batches:
        rows = [to_row(asked, readers, *record) for record in list_records(batch)]
        columns = zip(*rows, strict=True) if rows else [()] * len(asked.schema)
        yield pa.RecordBatch.from_arrays(
            [pa.array(each, of.type) for each, of in zip(columns, asked.schema, strict=True)],
            schema=asked.schema,
        )


def list_records(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Topic, partition, offset, microseconds at which it was published, key and value."""
    plain = batch.set_column(3, "timestamp", batch.column("timestamp").cast(pa.int64()))
    return zip(*[column.to_pylist() for column in plain.columns], strict=True)


def to_row(
    asked: Validation,
    readers: Sequence[DimensionReader],
    topic: str,
    partition: int,
    offset: int,
    published_us: int,
    key: bytes | None,
    value: bytes | None,
) -> tuple[Any, ...]:
    """A record's row, in the schema's form; times are in microseconds."""
    of = get_contract(topic)
    found = validate(of, key, value, published_us // MICROSECONDS, partition)
    if isinstance(found, Rejection):
        why = topic, found.reason, str(offset), NEVER_US, None, 0
        nothing = [None] * (len(asked.reads) + len(asked.lookups))
        return topic, partition, published_us, *why, *nothing
    identity, at_ms = identify(of, found)
    clock_us, event = at_ms * MICROSECONDS, found
    if of is RELEASES:
        of, event = get_contract(found["topic"]), unwrap_accepted(found)
        original, at_ms = identify(of, event)
        identity, clock_us = f"{of.name}/{original}", NEVER_US
    beat_us = 0
    if of is HEARTBEATS:
        identity, beat_us = str(offset), clock_us
    meta = of.name, None, identity, clock_us, at_ms * MICROSECONDS, beat_us
    events = [convert_times(of, event) if name == of.name else None for name in asked.reads]
    has_lines = of.name in asked.reads
    versions = [
        lookup.find_versions(reader, event, at_ms) if has_lines else None
        for lookup, reader in zip(asked.lookups, readers, strict=True)
    ]
    return topic, partition, published_us, *meta, *events, *versions


def unwrap_accepted(release: Row) -> Row:
    """The event in an accepted release."""
    event = unwrap(release)
    assert not isinstance(event, Rejection), "a release is accepted with what it wraps"
    return event


def convert_times(of: Contract, event: Row) -> Row:
    """The event with its times in microseconds, as in Arrow."""
    times = {name: None if event[name] is None else event[name] * MICROSECONDS for name in of.times}
    return {**event, **times}


NEVER_US = round(NEVER.timestamp()) * 1_000_000
assert BEFORE_ALL.timestamp() == 0
