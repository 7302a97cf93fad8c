"""Deduplication: of all records with the same identity, the first one counts.

`contracts.validation.identify` says what copies of an event have in common.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import HEARTBEATS
from pipelines.common.transform.validate import BEFORE_ALL

IDENTITY = ("_topic", "_partition", "_reason", "_identity", "event_time")
"""The identity of a record. A rejected one equals no other, nor does a heartbeat."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""The key of the delay in a column's metadata: Spark frees ids that are older than the watermark by
it, in milliseconds."""


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
