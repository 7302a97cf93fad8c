"""The as-of join: adds to each line the version of a dimension that held at its event time."""

from collections.abc import Mapping
from functools import reduce
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.common.pipeline import Dimension

Lookups = Mapping[Dimension, str]
"""By dimension: the session's function that looks up a version, by its topic's key and a moment in
milliseconds. It gives a struct with the dimension's columns; null where no version holds yet."""

NONE: Lookups = MappingProxyType({})


def join_as_of(lines: DataFrame, lookups: Lookups) -> DataFrame:
    """The lines with the dimensions' columns, by the versions that held at their `event_time`."""
    moment = F.unix_millis("event_time")
    versions = {
        f"_version_{number}": F.call_function(lookup, build_key(dimension), moment)
        for number, (dimension, lookup) in enumerate(lookups.items())
    }
    columns = [
        F.col(f"{version}.{name}")
        for version, dimension in zip(versions, lookups, strict=True)
        for name in dimension.columns.values()
    ]
    return lines.withColumns(versions).select(*lines.columns, *columns)


def build_key(dimension: Dimension) -> Column:
    """The key of a record of the dimension's topic, as text."""
    first, *others = [F.col(name).cast("string") for name in dimension.topic.key]
    return reduce(lambda key, part: F.concat(key, F.lit("/"), part), others, first)
