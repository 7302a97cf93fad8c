"""The as-of join: adds to each line the version of a dimension that held at its event time.

`join_as_of` does it in Spark. In a live batch a Python worker looks up versions with `Lookup`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Row
from infra.settings import Settings
from pipelines.common.pipeline import Dimension, Pipeline
from pipelines.common.transform.dimensions import (
    DimensionReader,
    get_shared_reader,
    list_field_names,
    read_versions,
)

Versions = Mapping[Dimension, DataFrame]
"""The versions of each dimension: its topic's key, its columns, and `_since` and `_before`, the
first moment at which a version holds and the first at which it holds no longer."""


def load_versions(spark: SparkSession, settings: Settings, pipeline: Pipeline) -> Versions:
    """The versions of the pipeline's dimensions, which each run of a plan reads anew."""
    return {one: read_versions(spark, settings, one) for one in pipeline.dimensions}


def join_as_of(lines: DataFrame, dimension: Dimension, versions: DataFrame) -> DataFrame:
    """The lines with the dimension's columns, by the version that held at their `event_time`."""
    key = {name: f"_dimension_{name}" for name in dimension.topic.key}
    named = versions.withColumnsRenamed(key)
    same = [F.col(name) == F.col(renamed) for name, renamed in key.items()]
    valid = (F.col("event_time") >= F.col("_since")) & (F.col("event_time") < F.col("_before"))
    joined = lines.join(F.broadcast(named), [*same, valid], "left")
    return joined.drop("_since", "_before", *key.values())


def name_as_of_column(dimension: int) -> str:
    """The column with the versions of this dimension for an event's lines."""
    return f"_as_of_{dimension}"


@dataclass(frozen=True)
class Lookup:
    """Looks up versions of a dimension in a worker."""

    topic: str
    since: str
    fields: tuple[str, ...]
    key: tuple[str, ...]
    columns: Mapping[str, int]
    """Column of the line → its place among the fields."""

    @classmethod
    def of(cls, dimension: Dimension) -> "Lookup":
        fields = list_field_names(dimension)
        places = {name: fields.index(field) for field, name in dimension.columns.items()}
        return cls(dimension.topic.name, dimension.since, fields, dimension.topic.key, places)

    def get_reader(self, settings: Settings) -> DimensionReader:
        return get_shared_reader(settings, self.topic, self.since, self.fields)

    def find_versions(
        self, reader: DimensionReader, event: Row, happened_ms: int
    ) -> list[Row | None]:
        """The dimension's columns for each line of the event, by the version that held then."""
        rows: list[Row | None] = []
        for line in event.get("lines", (event,)):
            key = tuple(line[name] if name in line else event[name] for name in self.key)
            values = reader.at(key, happened_ms)
            if values is None:
                rows.append(None)
            else:
                rows.append({name: values[at] for name, at in self.columns.items()})
        return rows
