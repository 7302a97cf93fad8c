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
from contracts.portable import describe
from contracts.projection import Path, project_fields
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


def validate(reads: Mapping[Contract, Collection[Path]], records: DataFrame) -> DataFrame:
    """One row per record: the columns of META, and for each topic read a column with its event.

    `reads`: by topic: the fields that the event has. It is null for a rejected record. A release
    counts as the event that it wraps; who reads releases too gets them as they are.
    Records have topic, partition, offset, timestamp, key and value. They may include heartbeats.
    """
    return records.select(
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("timestamp").alias("_published"),
        find_events(reads, records).alias("_found"),
    ).select("_topic", "_partition", "_published", "_found.*")


def find_events(reads: Mapping[Contract, Collection[Path]], records: DataFrame) -> Column:
    """A struct with the columns of FOUND and the events, over the records: as in `validate`."""
    columns = [
        T.StructField(name_column(topic), build_struct(project_fields(topic.fields, paths)))
        for topic, paths in reads.items()
    ]
    function = register(records.sparkSession, reads, T.StructType([*FOUND, *columns]))
    published_ms = F.unix_millis("timestamp")
    return F.call_function(function, "topic", "partition", "offset", published_ms, "key", "value")


def register(
    spark: SparkSession, reads: Mapping[Contract, Collection[Path]], result: T.StructType
) -> str:
    """Give the session the function for these topics and fields; returns its name."""
    description = json.dumps(describe(reads), separators=(",", ":"))
    name = f"validate_{sha256(description.encode()).hexdigest()[:16]}"
    if not spark.catalog.functionExists(name):
        jvm = spark._jvm
        assert jvm is not None, "a session that is in use has its Java"
        kind = jvm.org.apache.spark.sql.types.DataType.fromJson(result.json())
        function = jvm.retail.validation.Validate.create(description, len(reads), kind)
        spark._jsparkSession.udf().register(name, function)
    return name


def name_column(contract: Contract) -> str:
    """The name of the column that holds the topic's events."""
    return contract.name.replace(".", "_").replace("-", "_")


def build_struct(fields: Iterable[Field]) -> T.StructType:
    return T.StructType(
        [
            T.StructField(
                one.name, T.ArrayType(build_struct(one.fields)) if one.fields else TYPES[one.type]
            )
            for one in fields
        ]
    )
