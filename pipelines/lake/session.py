"""Spark with Delta: on the class path of the lake alone."""

from pyspark.sql import SparkSession

from infra.jars import fetch_jars
from infra.settings import Settings
from pipelines.engine.pace import LIVE_RECORDS_MAX
from pipelines.engine.session import prepare_session, start_session

FILE_BYTES = 64 * 1024**2
"""The size up to which files grow: each compaction would rewrite a larger one."""

YOUNG_MIB = 96
"""The young part of Java's heap: a batch of the lake is a job after the other."""

OLD_MIB_MIN = 128
"""What the old part may hold without a collection."""

OPTIONS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # A table has few files.
    "spark.databricks.delta.snapshotPartitions": "1",
    # By default, Spark would look for a table's old files with ten thousand tasks.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.optimize.maxFileSize": str(FILE_BYTES),
    "spark.databricks.delta.optimize.minFileSize": str(FILE_BYTES),
    # A commit without rows records the table's coverage too.
    "spark.databricks.delta.skipRecordingEmptyCommits": "false",
    # Spark's default type has no statistics, with which it skips files.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def start_lake_session(settings: Settings, name: str = "lake") -> SparkSession:
    """The Spark session of this process, with Delta, prepared for few records."""
    jars = fetch_jars("delta")
    spark = start_session(settings, name, jars, OPTIONS, YOUNG_MIB)
    prepare_for(spark, records=0)
    return spark


def prepare_for(spark: SparkSession, records: int) -> None:
    """Prepare the session for work over so many records.

    Of few, Spark interprets its expressions: a commit takes a dozen small queries of Delta's own
    besides, and to generate code for each takes longer than all the rest.
    """
    prepare_session(spark, live=records <= LIVE_RECORDS_MAX)
