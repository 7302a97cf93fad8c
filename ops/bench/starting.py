"""The time of starts: a first start of a shop, and a later one."""

import os
import time
from collections.abc import Iterator
from statistics import median

from pyspark.sql import SparkSession

from contracts import RECEIPTS
from infra import java
from infra.jars import fetch_jars
from infra.settings import Settings
from ops.bench.batches import end_session
from ops.bench.figures import Figure, Scale, Yardstick, aim_at_most
from ops.bench.shops import Shop, run_broker
from pipelines.engine.session import PARTITIONS
from pipelines.engine.source import build_source_options

START_PERCENT_MAX = 200
BATCH_SECONDS_MAX = 300
STARTS = 3
"""How often an existing shop is started; the median counts."""


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    starts = scale.reduce(STARTS)
    own = settings.model_copy(update={"data_dir": settings.data_dir / "starting"})
    own.data_dir.mkdir(parents=True, exist_ok=True)
    shop = Shop(own)
    first, *again = [time_start(shop) for _ in range(1 + starts)]
    yield Figure(
        "first start of a shop", first, "s", note="Until `retail up` says that all parts are ready."
    )
    with run_broker(own):
        bare = [time_bare_session(own, number) for number in range(starts)]
    yield Figure(
        "start of a shop that was there before",
        median(again),
        "s",
        yardstick=Yardstick(
            "a bare Spark session's first batch", median(bare), aim_at_most(START_PERCENT_MAX)
        ),
        note=f"Median of {starts}. The bare session has Spark's own options; its batch reads "
        "the receipts of the shop and does nothing with them.",
    )


def time_start(shop: Shop) -> float:
    """Seconds until every part of the shop is ready; then it is stopped."""
    began = time.monotonic()
    try:
        shop.start()
        return time.monotonic() - began
    finally:
        shop.stop()


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


def time_bare_session(settings: Settings, number: int) -> float:
    """Seconds until a session with Spark's own options has finished a batch of a query."""
    began = time.monotonic()
    spark = start_plain_session(settings)
    try:
        query = (
            spark.readStream.format("kafka")
            .options(**build_source_options(settings))
            .option("subscribe", RECEIPTS.name)
            .option("startingOffsets", "earliest")
            .load()
            .writeStream.format("noop")
            .option("checkpointLocation", str(settings.data_dir / f"bare-{number}"))
            .trigger(availableNow=True)
            .start()
        )
        if not query.awaitTermination(BATCH_SECONDS_MAX):
            raise TimeoutError(f"A bare batch should end within {BATCH_SECONDS_MAX} s")
        return time.monotonic() - began
    finally:
        end_session(spark)
