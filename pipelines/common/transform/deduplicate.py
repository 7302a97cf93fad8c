"""Deduplication: of all records with the same identity, the first one counts.

`contracts.validation.identify` says what copies of an event have in common.
"""

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.common.transform.validate import BEFORE_ALL

IDENTITY = ("_topic", "_partition", "_reason", "_identity", "event_time")
"""The identity of a record. A rejected record equals no other one."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""The key of the delay in a column's metadata: Spark frees ids that are older than the watermark by
it, in milliseconds."""


def keep_first_copies(extracts: DataFrame) -> DataFrame:
    """The first record of each identity in a static frame, with the same columns."""
    return extracts.dropDuplicates([*IDENTITY])


def keep_first_copies_in_stream(
    extracts: DataFrame, memory: timedelta, beat_max: Column
) -> DataFrame:
    """The first record of each identity in a stream, with the same columns but `_beat`.

    Only heartbeats move the watermark, so a publisher with a fast clock does not. Spark remembers
    an event's id until a heartbeat is younger than the event by `memory` of world time. A heartbeat
    beyond `beat_max`, world time at the start of the batch, moves nothing. The id of an event that
    is older than all that is remembered, and would be dropped, is remembered from then on.
    """
    delay = f"{int(memory.total_seconds() * 1000)} milliseconds"
    is_possible = F.col("_beat") <= beat_max
    beats = {"_beat": F.when(is_possible, F.col("_beat")).otherwise(F.lit(BEFORE_ALL))}
    watched = extracts.withColumns(beats).withWatermark("_beat", delay)
    is_forgotten = F.col("_clock") < beat_max - F.lit(memory)
    clock = F.when(is_forgotten, beat_max).otherwise(F.col("_clock"))
    # Spark remembers an id for the delay in this metadata, counted by the watermark.
    clock = clock.alias("_clock", metadata={WATERMARK_DELAY: 0})
    kept = [
        clock if name == "_clock" else F.col(name) for name in watched.columns if name != "_beat"
    ]
    return watched.select(*kept).dropDuplicatesWithinWatermark([*IDENTITY])
