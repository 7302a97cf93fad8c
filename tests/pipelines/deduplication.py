"""A stream of ids, of which the first copies are written, as the pipelines deduplicate events."""

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter


def deduplicate_ids(
    spark: SparkSession, source: Path, at: Column, memory: str, folder: Path
) -> DataStreamWriter:
    """A query over all files of ids, a file a batch; its checkpoint is in the folder.

    `at` is the event time of an id, and `memory` how long it is remembered: "1 minute".
    """
    return (
        read_ids(spark, source)
        .withColumn("at", at)
        .withWatermark("at", memory)
        .dropDuplicatesWithinWatermark(["id"])
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
    )


def read_ids(spark: SparkSession, source: Path) -> DataFrame:
    files = spark.readStream.schema("id LONG").option("maxFilesPerTrigger", "1")
    return files.parquet(str(source))
