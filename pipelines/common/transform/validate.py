"""From records to events: each record is decoded, and accepted or rejected with a reason.

One Java function does both, pipelines/engine/java/Validate.java. It says
of every record what contracts/validation.py says.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from contracts import Contract
from contracts.lines import LINES, Key, Line, select_fields
from contracts.portable import describe
from contracts.projection import Path
from contracts.shape import Field
from contracts.times import EPOCH

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""A time that no watermark passes: what was released once counts no second time, however much
later."""

BEFORE_ALL = EPOCH
"""A time that moves no watermark."""

FOUND = T.StructType(
    [
        # The topic of the event's contract; for a release, that of the original.
        T.StructField("_of", T.StringType()),
        # Why the record is rejected; null: it is accepted.
        T.StructField("_reason", T.StringType()),
        # Its id; for a release, the original's topic and id. What has no copies, a heartbeat or a
        # rejected record: its offset.
        T.StructField("_identity", T.StringType()),
        # When the event happened; NEVER for a release and for a rejected record.
        T.StructField("_clock", T.TimestampType()),
        # When the event happened: a part of its identity.
        T.StructField("event_time", T.TimestampType()),
        # The time of an accepted heartbeat; else BEFORE_ALL.
        T.StructField("_beat", T.TimestampType()),
    ]
)

META = ("_topic", "_partition", "_published", *FOUND.fieldNames())
"""The columns of every record; `_published` is its timestamp, in world time."""

TYPES: Mapping[str, T.DataType] = {
    "string": T.StringType(),
    "bytes": T.BinaryType(),
    "int": T.LongType(),  # what pipelines compute with it may need more than 32 bits
    "long": T.LongType(),
    "boolean": T.BooleanType(),
    "timestamp": T.TimestampType(),
}


def validate(
    reads: Mapping[Contract, Collection[Path]], records: DataFrame, line: Line | None = None
) -> DataFrame:
    """One row per record: the columns of META, and for each topic read a column with its event.

    `reads`: by topic: the fields that the event has. It is null for a rejected record. A release
    counts as the event that it wraps; who reads releases too gets them as they are.
    With a `line`, a column `lines` comes before the events, which have none: an array of structs
    with the fields of `line`, and for each of its keys `name_mark`, whether the line is the first
    of its event with these values.
    Records have topic, partition, offset, timestamp, key and value. They may include heartbeats.
    """
    return records.select(
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("timestamp").alias("_published"),
        find_events(reads, records, line).alias("_found"),
    ).select("_topic", "_partition", "_published", "_found.*")


def find_events(
    reads: Mapping[Contract, Collection[Path]], records: DataFrame, line: Line | None = None
) -> Column:
    """A struct with the columns of FOUND, lines and events, over the records: as in `validate`.

    Without a `line` it has no lines; they stay in the events.
    """
    lines = [] if line is None else [T.StructField(LINES, T.ArrayType(build_line(line)))]
    events = [
        T.StructField(name_column(topic), build_struct(select_fields(topic, paths, line)))
        for topic, paths in reads.items()
    ]
    description = json.dumps(describe(reads, line), separators=(",", ":"))
    result = T.StructType([*FOUND, *lines, *events])
    function = register(records.sparkSession, description, len(lines) + len(events), result)
    published_ms = F.unix_millis("timestamp")
    return F.call_function(function, "topic", "partition", "offset", published_ms, "key", "value")


def register(spark: SparkSession, description: str, columns: int, result: T.StructType) -> str:
    """Give the session the function of this description; returns its name."""
    name = f"validate_{sha256(description.encode()).hexdigest()[:16]}"
    if not spark.catalog.functionExists(name):
        jvm = spark._jvm
        assert jvm is not None, "a session that is in use has its Java"
        kind = jvm.org.apache.spark.sql.types.DataType.fromJson(result.json())
        function = jvm.retail.validation.Validate.create(description, columns, kind)
        spark._jsparkSession.udf().register(name, function)
    return name


def name_column(contract: Contract) -> str:
    """The name of the column that holds the topic's events."""
    return contract.name.replace(".", "_").replace("-", "_")


def build_line(line: Line) -> T.StructType:
    marks = [T.StructField(name_mark(key), T.BooleanType()) for key in line.keys]
    return T.StructType([*build_struct(line.fields), *marks])


def name_mark(key: Key) -> str:
    """The column of a line that says whether it is the first one with these values."""
    return "_".join(("_first", *key))


def build_struct(fields: Iterable[Field]) -> T.StructType:
    return T.StructType(
        [
            T.StructField(
                field.name,
                T.ArrayType(build_struct(field.fields)) if field.fields else TYPES[field.type],
            )
            for field in fields
        ]
    )
