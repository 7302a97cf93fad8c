"""Reads records from Kafka into Spark."""

import json
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from contracts import Contract
from infra.kafka import Offsets, build_client_config, create_admin, list_partitions
from infra.lake import group_by_topic
from infra.security.passwords import PROPERTY, locate_password
from infra.settings import Settings

READ = {
    # Aborted records are not there, and open ones are not there yet. Spark reads both by default.
    "kafka.isolation.level": "read_committed",
    # A consumer that has read to the end asks for more; what it is asked next waits behind that.
    "kafka.fetch.max.wait.ms": "10",
    # Each poll costs two more questions to the broker; but what a consumer has polled fills the
    # heap until it is read, in every partition of every pipeline.
    "kafka.max.partition.fetch.bytes": "2097152",
    "kafka.max.poll.records": "4000",
}


FILE_READER = "org.apache.kafka.common.config.provider.FileConfigProvider"
"""The provider with which Java's client reads a value from a file where it needs it."""


def tail(
    spark: SparkSession,
    settings: Settings,
    topics: Iterable[Contract],
    records_max: int | None,
    starts: Offsets,
) -> DataFrame:
    """The topics' records, from these offsets or from the position of the checkpoint.

    The columns are those of Kafka's source: archive.COLUMNS among them. A partition without an
    offset begins at zero. The limit of records per batch, if any, is for all topics together; each
    gets its share of the backlog. The query fails if an unread record is gone.
    """
    names = [topic.name for topic in topics]
    every = list_partitions(create_admin(settings), names)
    begin = json.dumps(group_by_topic({partition: starts.get(partition, 0) for partition in every}))
    limit = {} if records_max is None else {"maxOffsetsPerTrigger": str(records_max)}
    return (
        spark.readStream.format("kafka")
        .options(**build_source_options(settings), **limit)
        .option("subscribe", ",".join(names))
        .option("startingOffsets", begin)
        # A topic of record keeps everything, so a missing offset is a loss.
        .option("failOnDataLoss", "true")
        .load()
    )


def build_source_options(settings: Settings) -> dict[str, str]:
    """The options with which Spark reads Kafka: every reader of it has them."""
    return {**build_kafka_options(settings), **READ}


def build_kafka_options(settings: Settings) -> dict[str, str]:
    """The address of Kafka and the login, for Spark's connector, which takes options of Java's
    client.
    """
    ours = build_client_config(settings)
    user, password = ours.pop("sasl.username", None), ours.pop("sasl.password", None)
    authority = ours.pop("ssl.ca.location", None)
    if settings.secure:
        # Spark copies options into plans, tasks and logs, so they name the password's file.
        password = f"${{file:{locate_password(settings, settings.kafka_service)}:{PROPERTY}}}"
        ours |= {"config.providers": "file", "config.providers.file.class": FILE_READER}
    if user is not None:
        family = "plain.Plain" if ours["sasl.mechanism"] == "PLAIN" else "scram.Scram"
        module = f"org.apache.kafka.common.security.{family}LoginModule"
        ours["sasl.jaas.config"] = f'{module} required username="{user}" password="{password}";'
    if authority is not None:
        ours |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority}
    return {f"kafka.{name}": str(value) for name, value in ours.items()}
