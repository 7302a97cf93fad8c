"""From events to rows: deduplicate, spread into entries, add up; and keep the books.

All of it is generated code in Spark: one lambda over an array in here halves the rate.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from pipelines.common.events import META, Events
from pipelines.common.pipeline import Pipeline

IDENTITY = ("_topic", "_partition", "_reason", "_identity")
"""What makes two records the same one. A rejected record is the same as no other."""

BOOK = ("_topic", "_partition")
"""The key of an entry in the books; null in every other entry."""


def rows(pipeline: Pipeline, events: Events) -> DataFrame:
    """The view over static frames: one row per key, with the fields of its contract."""
    first_copies = pipeline.posts(events).dropDuplicates([*IDENTITY])
    totals = add_up(pipeline, entries(pipeline, first_copies))
    fields = [field.name for field in pipeline.writes.fields]
    return totals.where(~is_book()).select(*fields)


def running_rows(pipeline: Pipeline, events: Events, memory: timedelta) -> DataFrame:
    """The rows that a batch of a stream changes, those of the books among them.

    An event's id is remembered for at least `memory` of world time after it happened. A record
    that happened longer than that before the newest one would be dropped by Spark, and counted.
    """
    first_copies = (
        pipeline.posts(events)
        .withWatermark("_clock", f"{int(memory.total_seconds() * 1000)} milliseconds")
        .dropDuplicatesWithinWatermark([*IDENTITY])
    )
    return add_up(pipeline, entries(pipeline, first_copies))


def entries(pipeline: Pipeline, postings: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one per record for the books.

    The books' entry is one more, empty line: a branch of its own would deduplicate twice.
    """
    lines = line_type(postings)
    posted = F.when(F.col("_reason").isNull(), F.col("lines")).otherwise(F.array().cast(lines))
    empty = F.array(F.lit(None).cast(lines.elementType))
    spread = postings.select("*", F.posexplode(F.concat(posted, empty)).alias("_position", "_line"))
    of_book = F.col("_line").isNull()
    shared = [name for name in postings.columns if name not in (*META, "lines")]
    return spread.select(
        *[F.when(of_book, F.col(name)).alias(name) for name in BOOK],
        F.when(of_book, F.col("_published")).alias("_published"),
        F.when(of_book, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~of_book, F.col(name)).alias(name) for name in (*shared, "event_time")],
        F.col("_line.*"),
        first_of_event(pipeline, fields_of(lines.elementType)).alias("first_of_event"),
    )


def first_of_event(pipeline: Pipeline, line_fields: list[str]) -> Column:
    """Whether no earlier line of the event has the same key; null for the books' entry."""
    (own,) = [name for name in pipeline.writes.key if name in line_fields]
    first = F.array_position(F.col(f"lines.{own}"), F.col(f"_line.{own}")) - 1
    return F.col("_position") == first


def add_up(pipeline: Pipeline, entered: DataFrame) -> DataFrame:
    """One row per key of the view and one per book, told apart by `is_book`."""
    return entered.groupBy(*BOOK, *pipeline.writes.key).agg(
        *[total.alias(name) for name, total in pipeline.totals().items()],
        F.count_if("_applied").alias("_applied"),
        F.count_if(~F.col("_applied")).alias("_quarantined"),
        F.max("_published").alias("_published"),
    )


def is_book() -> Column:
    return F.col("_topic").isNotNull()


def line_type(postings: DataFrame) -> ArrayType:
    return array(postings.schema["lines"].dataType)


def array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"A posting's lines should be an array of structs, found {kind}.")
    return kind


def fields_of(line: DataType) -> list[str]:
    if not isinstance(line, StructType):
        raise TypeError(f"A line should be a struct, found {line}.")
    return line.fieldNames()
