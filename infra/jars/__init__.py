"""The jars of the broker, Spark, Delta, Kafka Streams and Flink: pinned, verified, a folder each.

Spark's Kafka clients have another version than the others', so they never share a class path.
"""

import os
from pathlib import Path

from infra.jars.fetch import fetch
from infra.jars.sets import get_jar_set
from infra.settings import read_settings


def fetch_spark_jars() -> list[Path]:
    """The jars that Spark needs beside its own; fetches missing ones."""
    return fetch(get_jar_set("spark"), read_settings().jars_dir)


def fetch_delta_jars() -> list[Path]:
    """The jars that Spark needs in addition for Delta tables; fetches missing ones."""
    return fetch(get_jar_set("delta"), read_settings().jars_dir)


def fetch_broker_classpath() -> str:
    """The class path of the broker; fetches missing jars."""
    return os.pathsep.join(
        str(jar) for jar in fetch(get_jar_set("broker"), read_settings().jars_dir)
    )


def fetch_streams_jars() -> list[Path]:
    """The jars of Kafka Streams and its dependencies; fetches missing ones."""
    return fetch(get_jar_set("streams"), read_settings().jars_dir)


def fetch_flink_jars() -> list[Path]:
    """The jars that Flink needs beside its own, for Kafka; fetches missing ones."""
    return fetch(get_jar_set("flink"), read_settings().jars_dir)
