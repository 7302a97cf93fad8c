"""A log as the fraud pipeline is given it, and its rows as they are compared."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from audit.log import Record
from audit.timeline import at
from contracts.validation import Rejection, validate
from infra.kafka import Partition
from pipelines.common.pipeline import Dimension
from pipelines.common.transform.as_of_join import Versions
from pipelines.common.transform.dimensions import (
    DimensionVersion,
    intervals,
    to_version,
    version_schema,
)
from pipelines.fraud.signals import DIMENSIONS, READS
from tests.pipelines.log import RECORD


def versions(dimension: Dimension, log: Iterable[Record]) -> Iterator[DimensionVersion]:
    for record in log:
        if record.topic != dimension.topic.name:
            continue
        said = validate(dimension.topic, record.key, record.value, record.published_ms)
        assert not isinstance(said, Rejection)
        place = record.partition, record.offset
        fields = (*dimension.topic.key, *dimension.columns)
        yield to_version(dimension.topic, dimension.since, fields, place, record.published_ms, said)


def known(spark: SparkSession, log: list[Record]) -> Versions:
    return {
        dimension: spark.createDataFrame(
            list(intervals(versions(dimension, log))), version_schema(dimension)
        )
        for dimension in DIMENSIONS
    }


def frame(spark: SparkSession, log: list[Record]) -> DataFrame:
    read = {topic.name for topic in READS}
    at_place: dict[Partition, int] = {}
    found = []
    for record in log:
        if record.topic in read:
            place = record.topic, record.partition
            offset = at_place[place] = at_place.get(place, -1) + 1
            published = at("0:00") + timedelta(
                milliseconds=record.published_ms - int(at("0:00").timestamp() * 1000)
            )
            found.append((*place, offset, published, record.key, record.value))
    return spark.createDataFrame(found, RECORD)


def comparable(row: dict[str, object]) -> dict[str, object]:
    evidence = row["evidence"]
    assert isinstance(evidence, list)
    proofs = [(one["topic"], one["event_id"], one["event_time"].timestamp()) for one in evidence]
    return {**row, "evidence": proofs}
