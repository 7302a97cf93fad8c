"""Deduplication: of all records with one identity, the first one counts."""

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

IDENTITY = ("_topic", "_partition", "_reason", "_identity")
"""What makes two records the same one. A rejected record is the same as no other."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""In a column's metadata: Spark frees what is older by it than the watermark, in milliseconds."""


def keep_first_copies(extracts: DataFrame) -> DataFrame:
    """The first record of each identity in a static frame, with the same columns."""
    return extracts.dropDuplicates([*IDENTITY])


def keep_first_copies_in_stream(extracts: DataFrame, memory: timedelta) -> DataFrame:
    """The first record of each identity in a stream, with the same columns but `_beat`.

    The newest heartbeat moves the watermark: no record of somebody whose clock is ahead does. Spark
    remembers an event's id until a heartbeat is `memory` of world time younger than the event. It
    drops an event that happened longer than that before the heartbeats of earlier batches, and
    counts it.
    """
    delay = f"{int(memory.total_seconds() * 1000)} milliseconds"
    watched = extracts.withWatermark("_beat", delay)
    # Spark remembers an id for the delay in this metadata, counted by the watermark.
    clock = F.col("_clock").alias("_clock", metadata={WATERMARK_DELAY: 0})
    kept = [
        clock if name == "_clock" else F.col(name) for name in watched.columns if name != "_beat"
    ]
    return watched.select(*kept).dropDuplicatesWithinWatermark([*IDENTITY])
