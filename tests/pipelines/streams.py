"""Files that Spark reads one after the other: a batch each, in a stated order."""

import os
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

FIRST_SECOND = 1_700_000_000
SECONDS_MAX = 120


def append(rows: DataFrame, folder: Path) -> None:
    """Add a file to the folder, younger by a second than those before it, whatever the clock."""
    rows.coalesce(1).write.mode("append").parquet(str(folder))
    files = set(folder.glob("*.parquet"))
    [new] = [file for file in files if file.stat().st_mtime > FIRST_SECOND + len(files)]
    os.utime(new, times=(FIRST_SECOND + len(files),) * 2)


def read_files(spark: SparkSession, folder: Path, schema: str = "id LONG") -> DataFrame:
    """A stream of the folder's rows, with the columns of the schema, a file a batch."""
    files = spark.readStream.schema(schema).option("maxFilesPerTrigger", "1")
    return files.parquet(str(folder))


def run_to_end(writer: DataStreamWriter, folder: Path) -> StreamingQuery:
    """The query when it has read all files; its checkpoint is in the folder."""
    query = (
        writer.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(SECONDS_MAX), "a small log is read in no time"
    return query


def deduplicate_ids(
    spark: SparkSession, source: Path, event_time: Column, memory: str
) -> DataStreamWriter:
    """A query over all files of ids, of which it writes the first copies, as pipelines do.

    `event_time` is that of an id, and `memory` how long it is remembered: "1 minute".
    """
    return (
        read_files(spark, source)
        .withColumn("event_time", event_time)
        .withWatermark("event_time", memory)
        .dropDuplicatesWithinWatermark(["id"])
        .writeStream.outputMode("append")
    )
