"""The dimension versions of a log in memory, as a pipeline looks them up."""

from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import SparkSession

from contracts.validation import Rejection, validate
from infra.kafka import Record
from pipelines.common.pipeline import Dimension
from pipelines.common.transform.as_of_join import Lookups
from pipelines.engine.dimensions import DimensionVersion, Versions, to_version


def create_lookups(
    spark: SparkSession, dimensions: Iterable[Dimension], log: Sequence[Record] = ()
) -> Lookups:
    """What holds of each dimension, and from when on."""
    return {
        dimension: create_lookup(spark, dimension, list_versions(dimension, log))
        for dimension in dimensions
    }


def create_lookup(
    spark: SparkSession, dimension: Dimension, versions: Iterable[DimensionVersion]
) -> str:
    """The session's function that looks up these versions."""
    known = Versions(spark, dimension)
    known.add(list(versions))
    return known.function


def list_versions(dimension: Dimension, log: Iterable[Record]) -> Iterator[DimensionVersion]:
    for record in log:
        if record.topic != dimension.topic.name:
            continue
        verdict = validate(dimension.topic, record.key, record.value, record.published_ms)
        assert not isinstance(verdict, Rejection)
        yield to_version(dimension, record.partition, record.offset, record.published_ms, verdict)
