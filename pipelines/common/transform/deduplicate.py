"""Deduplication: of all records with the same identity, the first one counts."""

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

IDENTITY = ("_topic", "_partition", "_reason", "_identity")
"""The identity of a record. A rejected record equals no other one."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""The key of the delay in a column's metadata: Spark frees ids that are older than the watermark by
it, in milliseconds."""


def keep_first_copies(extracts: DataFrame) -> DataFrame:
    """The first record of each identity in a static frame, with the same columns."""
    return extracts.dropDuplicates([*IDENTITY])


def keep_first_copies_in_stream(extracts: DataFrame, memory: timedelta) -> DataFrame:
    """The first record of each identity in a stream, with the same columns but `_beat`.

    Only heartbeats move the watermark, so a publisher with a fast clock does not. Spark remembers
    an event's id until a heartbeat is younger than the event by `memory` of world time. It drops
    and counts an event that is older than the heartbeats of earlier batches by more than that.
    """
    delay = f"{int(memory.total_seconds() * 1000)} milliseconds"
    watched = extracts.withWatermark("_beat", delay)
    # Spark remembers an id for the delay in this metadata, counted by the watermark.
    clock = F.col("_clock").alias("_clock", metadata={WATERMARK_DELAY: 0})
    kept = [
        clock if name == "_clock" else F.col(name) for name in watched.columns if name != "_beat"
    ]
    return watched.select(*kept).dropDuplicatesWithinWatermark([*IDENTITY])
