"""The smallest honest query of a live pipeline's kind: one topic, deduplicated, summed, written.

It has the session, consumer and producer options of the pipelines, and two states as they do. What
it leaves out: validation, three of the four topics, releases, record accounting and markers.
"""

import shutil
from pathlib import Path

from confluent_kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from pyspark.sql.streaming.query import StreamingQuery

from contracts import RECEIPTS
from infra.kafka import admin
from infra.settings import Settings
from pipelines.common.decode import event
from pipelines.common.fold import SMALL_TASKS
from pipelines.common.session import suit
from pipelines.common.sink import producer_options
from pipelines.common.source import tail

TOPIC = "private.bench.yardstick.v1"
SECONDS_PER_BATCH = 0.5


def start(spark: SparkSession, where: Settings, folder: Path) -> StreamingQuery:
    """Begin at the log's first receipt, with a checkpoint in this folder, made anew."""
    make_topic(where)
    shutil.rmtree(folder, ignore_errors=True)
    suit(spark, live=True)
    options = producer_options(where)

    def write(rows: DataFrame, _batch: int) -> None:
        rows.write.format("kafka").options(**options).save()

    records = tail(spark, where, [RECEIPTS], None, {}).coalesce(SMALL_TASKS)
    return (
        summed(records)
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(folder))
        .foreachBatch(write)
        .trigger(processingTime=f"{SECONDS_PER_BATCH:g} seconds")
        .start()
    )


def summed(records: DataFrame) -> DataFrame:
    """Units sold by shelf: topic, key and value of a record each."""
    lines = (
        records.select(event(RECEIPTS, F.col("value")).alias("receipt"))
        .select("receipt.event_id", "receipt.event_time", "receipt.store_id", "receipt.lines")
        .withWatermark("event_time", "3 hours")
        .dropDuplicatesWithinWatermark(["event_id"])
        .select("store_id", F.explode("lines").alias("line"))
    )
    shelves = lines.groupBy("store_id", "line.sku").agg(F.sum("line.units").alias("units"))
    return shelves.select(
        F.lit(TOPIC).alias("topic"),
        F.concat_ws("/", "store_id", "sku").alias("key"),
        to_avro(F.struct("units")).alias("value"),
    )


def make_topic(where: Settings) -> None:
    client = admin(where)  # it has to live until the topic is there
    if TOPIC not in client.list_topics(timeout=30).topics:
        [made] = client.create_topics(
            [NewTopic(TOPIC, num_partitions=4, replication_factor=1)]
        ).values()
        made.result(30)
