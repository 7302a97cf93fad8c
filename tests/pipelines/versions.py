"""The dimension versions of a log in memory, as a pipeline looks them up."""

from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from contracts.validation import Rejection, validate
from infra.kafka import Record
from pipelines.common.pipeline import Dimension
from pipelines.common.transform.as_of_join import Versions
from pipelines.common.transform.dimensions import (
    DimensionVersion,
    build_version_schema,
    compute_intervals,
    to_version,
)


def load_versions(
    spark: SparkSession, dimensions: Iterable[Dimension], log: list[Record]
) -> Versions:
    """What holds of each dimension, and from when on."""
    return {
        dimension: spark.createDataFrame(
            list(compute_intervals(list_versions(dimension, log))), build_version_schema(dimension)
        )
        for dimension in dimensions
    }


def list_versions(dimension: Dimension, log: Iterable[Record]) -> Iterator[DimensionVersion]:
    for record in log:
        if record.topic != dimension.topic.name:
            continue
        verdict = validate(dimension.topic, record.key, record.value, record.published_ms)
        assert not isinstance(verdict, Rejection)
        place = record.partition, record.offset
        fields = (*dimension.topic.key, *dimension.columns)
        yield to_version(
            dimension.topic, dimension.since, fields, place, record.published_ms, verdict
        )
