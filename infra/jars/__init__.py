"""The jars of the broker, Spark, Delta, Kafka Streams and Flink: pinned, verified, a folder each.

Spark's Kafka clients have another version than the others', so they never share a class path.
"""

from pathlib import Path

from infra.jars.fetch import fetch as fetch_set
from infra.jars.sets import Name, get_jar_set
from infra.settings import read_settings


def fetch_jars(name: Name) -> list[Path]:
    """The jars of the set; fetches missing ones. Spark, Delta and Flink have their own beside."""
    return fetch_set(get_jar_set(name), read_settings().jars_dir)
