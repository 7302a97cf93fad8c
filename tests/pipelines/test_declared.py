"""A pipeline reads what its file in contracts/consumers says: nothing more, and nothing less."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from contracts import ADJUSTMENTS, PRODUCTS, RECEIPTS, REFUNDS, Contract
from contracts.consumer import CONSUMERS, list_declared
from contracts.errors import Undeclared
from contracts.lines import LINES, Line
from contracts.projection import Path, render_path
from pipelines.common import flow
from pipelines.common.flow import build_rows
from pipelines.common.pipeline import Dimension, Extract, Pipeline, list_pipelines, load
from pipelines.common.transform.rows import select_view_rows
from pipelines.common.transform.validate import META, name_column, name_mark, validate
from tests.pipelines.log import create_log, create_lookups, receipt

EVERY = pytest.mark.parametrize("name", list_pipelines())

Reach = Callable[[Column], Column]
Reads = Mapping[Contract, Collection[Path]]

BY_ALL = {("event_id",), ("event_time",)}
"""What every pipeline reads of every event: to deduplicate, and to tell the time."""


def build_of(
    spark: SparkSession, pipeline: Pipeline, reads: Reads, patch: pytest.MonkeyPatch
) -> None:
    """Plan the rows of events that have these fields and no others. Raises AnalysisException."""
    patch.setattr(flow, "list_fields", lambda _: reads)
    lookups = create_lookups(spark, pipeline.dimensions, [])
    every = flow.build_static_rows(pipeline, create_log(spark), lookups)
    for number in range(len(pipeline.views)):
        select_view_rows(pipeline, every, number)


@EVERY
def test_its_file_names_what_it_reads_and_writes(name: str) -> None:
    declared_by_code, file = load(name), CONSUMERS[name]
    dimensions = {dimension.topic.name for dimension in declared_by_code.dimensions}
    assert {topic.name for topic in declared_by_code.inputs} | dimensions <= set(file.reads)
    assert {view.name for view in declared_by_code.writes} <= set(file.writes)


@pytest.mark.spark
@EVERY
def test_its_events_and_lines_hold_what_it_declares_and_nothing_else(
    name: str, spark: SparkSession
) -> None:
    pipeline, log = load(name), create_log(spark, receipt())
    reads = flow.list_fields(pipeline)
    whole = validate(reads, log)
    declared = {
        topic.name: {tuple(path.split(".")) for path in list_leaves(whole, name_column(topic))}
        for topic in pipeline.reads
    }
    assert declared == {topic.name: set(list_declared(name, topic)) for topic in pipeline.reads}
    assert whole.columns == [*META, *map(name_column, pipeline.reads)]
    line = flow.choose_line(pipeline, reads)
    apart = validate(reads, log, line)
    of_lines = {path[1] for paths in reads.values() for path in paths if path[0] == LINES}
    assert set(list_leaves(apart, LINES)) == {*of_lines, *map(name_mark, line.keys)}
    assert not any(LINES in apart.select(f"{name_column(of)}.*").columns for of in pipeline.reads)


@pytest.mark.spark
def test_a_field_that_is_not_declared_is_not_there_when_it_runs(spark: SparkSession) -> None:
    honest = load("inventory")
    for reaching in (
        lambda event: event["register_id"],
        lambda _: F.col(LINES)["unit_price_cents"][0],
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
    kind = frame.schema[of].dataType
    inner = kind.elementType if isinstance(kind, ArrayType) else kind
    assert isinstance(inner, StructType)
    for field in inner:
        if isinstance(field.dataType, ArrayType):
            assert isinstance(field.dataType.elementType, StructType)
            yield from (f"{field.name}.{item.name}" for item in field.dataType.elementType)
        else:
            yield field.name


@EVERY
def test_it_declares_what_it_looks_up(name: str) -> None:
    for dimension in load(name).dimensions:
        looked_up = {("event_id",), (dimension.since,), *((field,) for field in dimension.columns)}
        keys = {(field,) for field in dimension.topic.key}
        assert looked_up | keys == set(list_declared(name, dimension.topic))


@pytest.mark.spark
@EVERY
def test_it_declares_the_fields_that_it_reads_and_no_others(
    name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = load(name)
    reads = {topic: set(paths) for topic, paths in flow.list_fields(pipeline).items()}
    build_of(spark, pipeline, reads, monkeypatch)  # it reads no other
    of_line = {field.name for field in Line.of(name, reads).fields}
    unread = []
    for topic, path in [(of, path) for of, paths in reads.items() for path in paths - BY_ALL]:
        lacking = {**reads, topic: reads[topic] - {path}}
        if path[-1] in of_line:  # all topics' lines have it, or none
            without = {(path[-1],), (LINES, path[-1])}
            lacking = {of: paths - without for of, paths in reads.items()}
        try:
            build_of(spark, pipeline, lacking, monkeypatch)
        except AnalysisException:
            continue
        unread.append(f"{topic.name}: {render_path(path)}")
    assert not unread


def test_a_field_that_another_topics_lines_have_is_refused_where_it_is_not_declared() -> None:
    reads = {RECEIPTS: [("lines", "sku"), ("lines", "units")], REFUNDS: [("lines", "sku")]}
    with pytest.raises(Undeclared, match=r"mine reads public.sales.refund.v1: .* lines\[\].units"):
        Line.of("mine", reads)
    with pytest.raises(Undeclared, match=r"mine reads public.inventory.adjustment.v1: field sku"):
        Line.of("mine", {RECEIPTS: [("lines", "sku")], ADJUSTMENTS: [("store_id",)]})


def test_a_field_of_lines_that_has_two_types_is_refused() -> None:
    numbered = [
        replace(field, type="string") if field.name == "units" else field
        for field in ADJUSTMENTS.fields
    ]
    other = replace(ADJUSTMENTS, fields=tuple(numbered))
    with pytest.raises(TypeError, match=r"units has one type, found int and, in .*, string"):
        Line.of("mine", {RECEIPTS: [("lines", "units")], other: [("units",)]})
