"""Records from Kafka into Spark, decoded and judged."""

from pyspark.sql import DataFrame, SparkSession

from contracts import Contract
from infra.kafka import client_config
from infra.settings import Settings
from pipelines.common.decode import decode
from pipelines.common.events import Events
from pipelines.common.judge import judge
from pipelines.common.pipeline import Pipeline


def stream(
    spark: SparkSession, settings: Settings, pipeline: Pipeline, share: int | None
) -> Events:
    """The pipeline's topics, from offset zero or from where the checkpoint stands.

    Each topic is its own source, with `share` records of a batch at the most, if any.
    """
    return Events(
        {
            topic.name: judge(decode(tail(spark, settings, topic, share), topic), topic)
            for topic in pipeline.reads
        }
    )


def tail(spark: SparkSession, settings: Settings, topic: Contract, share: int | None) -> DataFrame:
    limit = {} if share is None else {"maxOffsetsPerTrigger": str(share)}
    return (
        spark.readStream.format("kafka")
        .options(**kafka_options(settings), **limit)
        .option("subscribe", topic.name)
        .option("startingOffsets", "earliest")
        # A topic of record keeps everything: an offset that is gone is a loss, not a detail.
        .option("failOnDataLoss", "true")
        .load()
    )


def kafka_options(settings: Settings) -> dict[str, str]:
    """Where Kafka is and how to log in, for Spark's connector, which speaks Java's dialect."""
    ours = client_config(settings)
    user, password = ours.pop("sasl.username", None), ours.pop("sasl.password", None)
    authority = ours.pop("ssl.ca.location", None)
    if user is not None:
        module = login_module(str(ours["sasl.mechanism"]))
        ours["sasl.jaas.config"] = f'{module} required username="{user}" password="{password}";'
    if authority is not None:
        ours |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority}
    return {f"kafka.{name}": str(value) for name, value in ours.items()}


def login_module(mechanism: str) -> str:
    family = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    return f"org.apache.kafka.common.security.{family}LoginModule"
