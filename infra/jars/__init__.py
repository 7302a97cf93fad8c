"""The jars of the broker, of Spark, of Delta and of Kafka Streams: pinned, verified, a folder each.

Spark's Kafka clients are of another version than the others', so their class paths never meet.
"""

import os
from pathlib import Path

from infra.jars.fetch import fetch
from infra.jars.sets import get_jar_set
from infra.settings import read_settings


def fetch_spark_jars() -> list[Path]:
    """What Spark needs beside its own jars, fetched where it is missing."""
    return fetch(get_jar_set("spark"), read_settings().jars_dir)


def fetch_delta_jars() -> list[Path]:
    """What Spark needs besides, where it reads and writes Delta tables."""
    return fetch(get_jar_set("delta"), read_settings().jars_dir)


def fetch_broker_classpath() -> str:
    """The class path of the broker, fetched where it is missing."""
    return os.pathsep.join(
        str(jar) for jar in fetch(get_jar_set("broker"), read_settings().jars_dir)
    )


def fetch_streams_jars() -> list[Path]:
    """Kafka Streams with everything it needs, fetched where it is missing."""
    return fetch(get_jar_set("streams"), read_settings().jars_dir)
