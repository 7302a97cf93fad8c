"""Spark with Delta: on the class path of the lake alone."""

from pyspark.sql import SparkSession

from infra.jars import fetch_delta_jars
from infra.settings import Settings
from pipelines.common.runtime.session import prepare_session, start_session

FILE_BYTES = 64 * 1024**2
"""The size that a file grows to: a larger one would be rewritten at each compaction."""

OPTIONS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # A table has few files.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Its default, ten thousand tasks, is what looking for old files would take for each table.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.optimize.maxFileSize": str(FILE_BYTES),
    "spark.databricks.delta.optimize.minFileSize": str(FILE_BYTES),
    # A batch without rows says, too, up to where the table holds the log.
    "spark.databricks.delta.skipRecordingEmptyCommits": "false",
    # Spark's default has no statistics, by which files are left out.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def start_lake_session(settings: Settings, name: str = "lake") -> SparkSession:
    """The Spark session of this process, with Delta."""
    spark = start_session(settings, name, jars=fetch_delta_jars(), more=OPTIONS)
    prepare_session(spark, live=False)
    return spark
