"""The smallest honest query of a live pipeline's kind: one topic, deduplicated, summed, written.

It has the session, consumer and producer options of the pipelines, and two states as they do. It
leaves out validation, three of the four topics, releases, record accounting and markers.
"""

import json
import os
import shutil
from contextlib import nullcontext

from confluent_kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro
from pyspark.sql.streaming.query import StreamingQuery

from contracts import RECEIPTS, build_avro_schema
from contracts.codec import FRAME_BYTES
from infra import java
from infra.jars import fetch_jars
from infra.kafka import create_admin
from infra.settings import Settings
from pipelines.engine.session import PARTITIONS, prepare_session
from pipelines.engine.sink import build_producer_options
from pipelines.engine.source import tail
from pipelines.engine.tuning.optimized import optimize_once

TOPIC = "private.bench.yardstick.v1"
SECONDS_PER_BATCH = 0.5


def start_plain_session(settings: Settings) -> SparkSession:
    """Spark with what it needs to read Kafka, few partitions, and no other option."""
    java.use()
    return (
        SparkSession.builder.master(settings.spark_master)
        .appName("plain")
        .config("spark.driver.extraClassPath", os.pathsep.join(map(str, fetch_jars("spark"))))
        .config("spark.driver.memory", settings.spark_driver_memory)
        .config("spark.local.dir", str(settings.data_dir / "plain"))
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .getOrCreate()
    )


def start(spark: SparkSession, settings: Settings, ours: bool = True) -> StreamingQuery:
    """Begin at the log's first receipt, with a new checkpoint.

    `ours`: with the options of a live pipeline, in one task; otherwise with those of the session.
    """
    make_topic(settings)
    folder = settings.data_dir / ("yardstick" if ours else "yardstick-plain")
    shutil.rmtree(folder, ignore_errors=True)
    if ours:
        prepare_session(spark, live=True, partitions=1)
    options = build_producer_options(settings)

    def write(rows: DataFrame, _batch: int) -> None:
        rows.write.format("kafka").options(**options).save()

    records = tail(spark, settings, [RECEIPTS], None, {})
    units = sum_units(records.coalesce(1) if ours else records)
    with optimize_once(units) if ours else nullcontext(units) as planned:
        return (
            planned.writeStream.outputMode("update")
            .option("checkpointLocation", str(folder))
            .foreachBatch(write)
            .trigger(processingTime=f"{SECONDS_PER_BATCH:g} seconds")
            .start()
        )


def sum_units(records: DataFrame) -> DataFrame:
    """Units sold by shelf: topic, key and value of a record each."""
    body = F.substring("value", FRAME_BYTES + 1, 2**31 - 1)
    lines = (
        records.select(from_avro(body, json.dumps(build_avro_schema(RECEIPTS))).alias("receipt"))
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


def make_topic(settings: Settings) -> None:
    client = create_admin(settings)  # it has to live until the topic exists
    if TOPIC not in client.list_topics(timeout=30).topics:
        topic = NewTopic(TOPIC, num_partitions=4, replication_factor=1)
        [made] = client.create_topics([topic]).values()
        made.result(30)
