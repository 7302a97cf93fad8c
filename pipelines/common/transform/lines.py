"""From events to lines: the values that an event's lines share, the first copy of each event, its
lines, and what held at its time. One accounting line per record comes with them.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import reduce
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from contracts import HEARTBEATS, RELEASES, Contract
from contracts.lines import LINES, Key, Line
from pipelines.common.pipeline import Dimension, Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.columns import choose
from pipelines.common.transform.validate import BEFORE_ALL, META, name_column, name_mark

IDENTITY = ("_topic", "_partition", "_reason", "_identity", "event_time")
"""The identity of a record, as in contracts.validation.identify: of records with one identity the
first one counts. A rejected one equals no other, nor does a heartbeat."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""The key of the delay in a column's metadata: Spark frees ids that are older than the watermark by
it, in milliseconds."""

Lookups = Mapping[Dimension, str]
"""By dimension: the session's function that looks up a version, by its topic's key and a moment in
milliseconds. It gives a struct with the dimension's columns; null where no version holds yet."""

NONE: Lookups = MappingProxyType({})


def extract(pipeline: Pipeline, events: DataFrame) -> DataFrame:
    """One row per record: the columns of META, `lines`, and the extract of its event."""
    extracts = {topic: of(F.col(name_column(topic))) for topic, of in pipeline.extracts.items()}
    names = next(iter(extracts.values()))
    return events.select(
        *META,
        LINES,
        *[
            choose(
                (F.col("_of") == topic.name, columns[name]) for topic, columns in extracts.items()
            ).alias(name)
            for name in names
        ],
    )


def keep_first_copies(extracts: DataFrame) -> DataFrame:
    """The first record of each identity in a static frame, with the same columns."""
    return extracts.dropDuplicates([*IDENTITY])


def keep_first_copies_in_stream(
    extracts: DataFrame, memory: timedelta, beat_max: Column, tasks: int
) -> DataFrame:
    """The first record of each identity in a stream, with the same columns but `_beat`.

    Only heartbeats move the watermark, so a publisher with a fast clock does not. Spark remembers
    an event's id until a heartbeat is younger than the event by `memory` of world time. A heartbeat
    beyond `beat_max`, world time where a row is read, moves nothing. An event that is older
    than all that is remembered is dropped, which ends the generation. What has no copies, a
    heartbeat and a rejected record, is never too old, and remembered no longer than an event of
    `beat_max`. What comes before it runs in so many `tasks`.
    """
    delay = f"{int(memory.total_seconds() * 1000)} milliseconds"
    # Few records are heartbeats, so the limit is asked for seldom.
    is_possible = (F.col("_beat") == F.lit(BEFORE_ALL)) | (F.col("_beat") <= beat_max)
    beats = {"_beat": F.when(is_possible, F.col("_beat")).otherwise(F.lit(BEFORE_ALL))}
    # Here Spark's generated code ends anyway: where records are read, it would copy each once more.
    watched = extracts.withColumns(beats).coalesce(tasks).withWatermark("_beat", delay)
    # Spark remembers an id for the delay in this metadata, counted by the watermark.
    has_copies = F.col("_reason").isNull() & (F.col("_topic") != HEARTBEATS.name)
    clock = F.when(has_copies, F.col("_clock")).otherwise(beat_max)
    clock = clock.alias("_clock", metadata={WATERMARK_DELAY: 0})
    kept = [
        clock if name == "_clock" else F.col(name) for name in watched.columns if name != "_beat"
    ]
    return watched.select(*kept).dropDuplicatesWithinWatermark([*IDENTITY])


def explode_lines(pipeline: Pipeline, line: Line, extracts: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one accounting row per record.

    A line has the extract of its event, `event_time`, its own fields with whole numbers as longs
    (units times a price may need more than 32 bits), `published`, `topic`, `line` (its number),
    `first_line`, `_released` and `first_of_event` for each view. An accounting row has the columns
    of accounting; the columns of the other kind are null.
    """
    kind = create_array(extracts.schema[LINES].dataType)
    lines = F.coalesce(LINES, F.array().cast(kind))
    empty = F.array(F.lit(None).cast(kind.elementType))
    exploded = extracts.select(
        "*", F.posexplode(F.concat(lines, empty)).alias("_position", "_line")
    )
    is_empty = F.col("_line").isNull()
    shared = [name for name in extracts.columns if name not in (*META, LINES)]
    return exploded.select(
        *[F.when(is_empty, F.col(name)).alias(name) for name in accounting.KEY],
        F.when(is_empty, F.col("_published")).alias("_published"),
        F.when(is_empty, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~is_empty, F.col(name)).alias(name) for name in (*shared, "event_time")],
        *[F.col(f"_line.{field.name}").alias(field.name) for field in line.fields],
        F.col("_published").alias("published"),
        F.col("_of").alias("topic"),
        (F.col("_topic") == RELEASES.name).alias("_released"),
        F.col("_position").cast("long").alias("line"),
        (F.col("_position") == 0).alias("first_line"),
        *[
            is_first_of_event(select_own_key(view.contract, line)).alias(name_first(number))
            for number, view in enumerate(pipeline.views)
        ],
    )


def name_first(view: int) -> str:
    """The column that marks the first line of an event in a row of the view."""
    return "first_of_event" if view == 0 else f"_first_{view}"


def select_own_key(view: Contract, line: Line) -> Key:
    """The fields of the view's key that are fields of a line."""
    of_line = {field.name for field in line.fields}
    return tuple(name for name in view.key if name in of_line)


def is_first_of_event(key: Key) -> Column:
    """Whether no earlier line of the event has the same key; meaningless in accounting rows."""
    return F.col(f"_line.{name_mark(key)}") if key else F.col("_position") == 0


def create_array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"An array of structs is expected, found {kind}.")
    return kind


def join_as_of(lines: DataFrame, lookups: Lookups) -> DataFrame:
    """The lines with the dimensions' columns, by the versions that held at their `event_time`."""
    moment = F.unix_millis("event_time")
    versions = {
        f"_version_{number}": F.call_function(lookup, build_key(dimension), moment)
        for number, (dimension, lookup) in enumerate(lookups.items())
    }
    columns = [
        F.col(f"{version}.{name}")
        for version, dimension in zip(versions, lookups, strict=True)
        for name in dimension.columns.values()
    ]
    return lines.withColumns(versions).select(*lines.columns, *columns)


def build_key(dimension: Dimension) -> Column:
    """The key of a record of the dimension's topic, as text."""
    first, *others = [F.col(name).cast("string") for name in dimension.topic.key]
    return reduce(lambda key, part: F.concat(key, F.lit("/"), part), others, first)
