"""The as-of join: adds to each line the version of a dimension that held at its event time."""

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.common.pipeline import Dimension

Lookups = Mapping[Dimension, str]
"""By dimension: the session's function that looks up a version, by its topic's key and a moment in
milliseconds. It gives a struct with the dimension's columns; null where no version holds yet."""

NONE: Lookups = MappingProxyType({})


def join_as_of(lines: DataFrame, dimension: Dimension, lookup: str) -> DataFrame:
    """The lines with the dimension's columns, by the version that held at their `event_time`."""
    parts = [F.col(name).cast("string") for name in dimension.topic.key]
    key = parts[0]
    for part in parts[1:]:
        key = F.concat(key, F.lit("/"), part)
    version = F.call_function(lookup, key, F.unix_millis("event_time")).alias("_version")
    columns = [F.col(f"_version.{name}") for name in dimension.columns.values()]
    return lines.select("*", version).select(*lines.columns, *columns)
