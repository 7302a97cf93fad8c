"""A pipeline reads what its file in contracts/consumers says: nothing more, and nothing less."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructField, StructType

from contracts import PRODUCTS, RECEIPTS, Contract
from contracts.consumer import CONSUMERS, list_declared
from contracts.errors import Undeclared
from contracts.projection import Path, project_fields, render_path
from pipelines.common.flow import build_rows, list_fields
from pipelines.common.pipeline import Dimension, Extract, Pipeline, list_pipelines, load
from pipelines.common.transform.validate import META, build_struct, name_column, validate
from tests.pipelines.log import create_log, receipt

EVERY = pytest.mark.parametrize("name", list_pipelines())

Reach = Callable[[Column], Column]

BY_ALL = {("event_id",), ("event_time",)}
"""What every pipeline reads of every event: to deduplicate, and to tell the time."""


def evaluate(spark: SparkSession, one: Pipeline, topic: Contract, paths: Collection[Path]) -> None:
    """Extract from an event that has these fields and no others. Raises AnalysisException."""
    event = build_struct(project_fields(topic.fields, paths))
    frame = spark.createDataFrame([], StructType([StructField("event", event)]))
    frame.select(*one.extracts[topic](F.col("event")).values())


@EVERY
def test_its_file_names_what_it_reads_and_writes(name: str) -> None:
    declared_by_code, file = load(name), CONSUMERS[name]
    dimensions = {dimension.topic.name for dimension in declared_by_code.dimensions}
    assert {one.name for one in declared_by_code.inputs} | dimensions <= set(file.reads)
    assert {one.name for one in declared_by_code.writes} <= set(file.writes)


@pytest.mark.spark
@EVERY
def test_it_extracts_from_events_that_hold_what_it_declares_and_nothing_else(
    name: str, spark: SparkSession
) -> None:
    one = load(name)
    frame = validate(list_fields(one), create_log(spark, receipt()))
    declared = {
        topic.name: {tuple(path.split(".")) for path in list_leaves(frame, name_column(topic))}
        for topic in one.reads
    }
    assert declared == {topic.name: set(list_declared(name, topic)) for topic in one.reads}
    assert frame.columns == [*META, *map(name_column, one.reads)]


@pytest.mark.spark
def test_a_field_that_is_not_declared_is_not_there_when_it_runs(spark: SparkSession) -> None:
    honest = load("inventory")
    for reaching in (
        lambda event: event["register_id"],
        lambda event: event["lines"]["unit_price_cents"],
        lambda _: F.col(f"{name_column(RECEIPTS)}.cashier_id"),
    ):

        def extract_undeclared(event: Column, reaching: Reach = reaching) -> Extract:
            return {**honest.extracts[RECEIPTS](event), "movement": reaching(event)}

        extracts = {**honest.extracts, RECEIPTS: extract_undeclared}
        with pytest.raises(AnalysisException, match=r"FIELD_NOT_FOUND|No such struct field"):
            build_rows(replace(honest, extracts=extracts), create_log(spark, receipt()))


@pytest.mark.spark
def test_a_dimension_that_is_not_declared_is_refused_when_it_runs(spark: SparkSession) -> None:
    honest = load("analytics")
    dimension = Dimension(PRODUCTS, since="effective_at", columns={"supplier_id": "supplier_id"})
    with pytest.raises(Undeclared, match=r"analytics reads public.catalog.product.v1.*supplier_id"):
        build_rows(replace(honest, dimensions=(dimension,)), create_log(spark, receipt()))


def list_leaves(frame: DataFrame, of: str) -> Iterator[str]:
    """The fields of a column, those of an array's items by their way: lines.units."""
    for field in frame.select(f"{of}.*").schema:
        if isinstance(field.dataType, ArrayType):
            assert isinstance(field.dataType.elementType, StructType)
            yield from (f"{field.name}.{inner.name}" for inner in field.dataType.elementType)
        else:
            yield field.name


@EVERY
def test_it_declares_what_it_looks_up(name: str) -> None:
    for dimension in load(name).dimensions:
        looked_up = {("event_id",), (dimension.since,), *((one,) for one in dimension.columns)}
        keys = {(one,) for one in dimension.topic.key}
        assert looked_up | keys == set(list_declared(name, dimension.topic))


@pytest.mark.spark
@EVERY
def test_it_declares_the_fields_that_it_reads_and_no_others(name: str, spark: SparkSession) -> None:
    one = load(name)
    unread = []
    for topic in one.extracts:
        paths = set(list_declared(name, topic))
        evaluate(spark, one, topic, paths)  # it reads no other
        for path in sorted(paths - BY_ALL):
            try:
                evaluate(spark, one, topic, paths - {path})
            except AnalysisException:
                continue
            unread.append(f"{topic.name}: {render_path(path)}")
    assert not unread
