"""From events to rows: deduplicate, spread into entries, add up; and keep the books.

All of it is generated code in Spark: one lambda over an array in here halves the rate.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from pipelines.common.events import META, by_topic, column, events, heartbeats
from pipelines.common.pipeline import Pipeline

IDENTITY = ("_topic", "_partition", "_reason", "_identity")
"""What makes two records the same one. A rejected record is the same as no other."""

TASKS = 2
"""How many tasks of a batch read: more of them cost a small batch more than they share out."""

BOOK = ("_topic", "_partition")
"""The key of an entry in the books; null in every other entry."""


def rows(pipeline: Pipeline, records: DataFrame) -> DataFrame:
    """The view over a static frame of records: one row per key, with the fields of its contract."""
    first_copies = postings(pipeline, records).dropDuplicates([*IDENTITY])
    totals = add_up(pipeline, entries(pipeline, first_copies))
    fields = [field.name for field in pipeline.writes.fields]
    return totals.where(~is_book()).select(*fields)


def running_rows(
    pipeline: Pipeline, records: DataFrame, beats: DataFrame, memory: timedelta
) -> DataFrame:
    """The rows that a batch of a stream changes, those of the books among them.

    An event's id is remembered for at least `memory` of world time after it happened. Two clocks
    say when it is forgotten, the newest event and the newest heartbeat, and the one that is behind
    counts: no record of somebody whose clock is ahead shortens the memory. An event that happened
    longer than the memory before both would be dropped by Spark, and counted.
    """
    delay = f"{int(memory.total_seconds() * 1000)} milliseconds"
    posted = postings(pipeline, records)
    first_copies = (
        posted.withWatermark("_clock", delay)
        .unionByName(heartbeats(beats).withWatermark("_clock", delay), allowMissingColumns=True)
        .coalesce(TASKS)
        .dropDuplicatesWithinWatermark([*IDENTITY])
    )
    return add_up(pipeline, entries(pipeline, first_copies))


def postings(pipeline: Pipeline, records: DataFrame) -> DataFrame:
    """One row per record: the columns of META, and what it posts; a rejected one has no lines."""
    read = events(pipeline.reads, records)
    posted = {topic: post(F.col(column(topic))) for topic, post in pipeline.posts.items()}
    names = next(iter(posted.values()))
    return read.select(
        *META,
        *[
            by_topic("_of", {topic: posting[name] for topic, posting in posted.items()}).alias(name)
            for name in names
        ],
    )


def entries(pipeline: Pipeline, posted: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one per record for the books.

    The books' entry is one more, empty line: a branch of its own would deduplicate twice.
    """
    lines = line_type(posted)
    none = F.array().cast(lines)
    accepted = F.when(F.col("_reason").isNull(), F.coalesce("lines", none)).otherwise(none)
    empty = F.array(F.lit(None).cast(lines.elementType))
    spread = posted.select("*", F.posexplode(F.concat(accepted, empty)).alias("_position", "_line"))
    of_book = F.col("_line").isNull()
    shared = [name for name in posted.columns if name not in (*META, "lines")]
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
