"""A pipeline reads what its file in contracts/consumers says: nothing more, and nothing less."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from contracts import PRODUCTS, RECEIPTS, Contract, spark_ddl
from contracts.consumer import consumer, declared
from contracts.errors import Undeclared
from contracts.projection import Path, spelled
from pipelines.common.declared import declared_events, only
from pipelines.common.events import META, column, events
from pipelines.common.fold import postings, rows
from pipelines.common.pipeline import AsOf, Pipeline, Posting, load, pipelines
from tests.pipelines.log import receipt, records, refund

EVERY = pytest.mark.parametrize("name", pipelines())

Reach = Callable[[Column], Column]

OF_THE_SHELL = {("event_id",), ("event_time",)}
"""What the shell reads of every event, to know copies and to tell the time."""


def posted(spark: SparkSession, one: Pipeline, topic: Contract, paths: Collection[Path]) -> None:
    """What an event posts, where it has these fields and no others. Raises AnalysisException."""
    frame: DataFrame = spark.createDataFrame([], spark_ddl(topic))
    event = only(F.struct("*"), topic, paths).alias("event")
    frame.select(event).select(*one.posts[topic](F.col("event")).values())


@EVERY
def test_its_file_names_what_it_reads_and_writes(name: str) -> None:
    declared_by_code, file = load(name), consumer(name)
    sides = {side.topic.name for side in declared_by_code.sides}
    assert {one.name for one in declared_by_code.inputs} | sides <= set(file.reads)
    assert {one.name for one in declared_by_code.writes} <= set(file.writes)


@pytest.mark.spark
@EVERY
def test_it_posts_from_events_that_hold_what_it_declares_and_nothing_else(
    name: str, spark: SparkSession
) -> None:
    one = load(name)
    frame = declared_events(one, events(one.reads, records(spark, receipt())))
    held = {
        topic.name: {tuple(path.split(".")) for path in leaves(frame, column(topic))}
        for topic in one.reads
    }
    assert held == {topic.name: set(declared(name, topic)) for topic in one.reads}
    assert frame.columns == [*META, *map(column, one.reads)]


@pytest.mark.spark
def test_a_field_that_is_not_declared_is_not_there_when_it_runs(spark: SparkSession) -> None:
    honest = load("inventory")
    for reaching in (
        lambda event: event["register_id"],
        lambda event: event["lines"]["unit_price_cents"],
        lambda _: F.col(f"{column(RECEIPTS)}.cashier_id"),
    ):

        def curious(event: Column, reaching: Reach = reaching) -> Posting:
            return {**honest.posts[RECEIPTS](event), "movement": reaching(event)}

        posts = {**honest.posts, RECEIPTS: curious}
        with pytest.raises(AnalysisException, match=r"FIELD_NOT_FOUND|No such struct field"):
            postings(replace(honest, posts=posts), records(spark, receipt()))


@pytest.mark.spark
def test_a_side_that_is_not_declared_is_refused_when_it_runs(spark: SparkSession) -> None:
    honest = load("analytics")
    side = AsOf(PRODUCTS, since="effective_at", columns={"supplier_id": "supplier_id"})
    with pytest.raises(Undeclared, match=r"analytics reads public.catalog.product.v1.*supplier_id"):
        rows(replace(honest, sides=(side,)), records(spark, receipt()))


@pytest.mark.spark
@EVERY
def test_what_it_does_not_declare_is_left_out_at_no_cost(
    name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = records(spark, receipt(), refund())
    lean = optimized(postings(load(name), log))
    monkeypatch.setattr("pipelines.common.fold.declared_events", lambda _, whole: whole)
    assert lean.sameResult(optimized(postings(load(name), log)))


def optimized(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().optimizedPlan()


def leaves(frame: DataFrame, of: str) -> Iterator[str]:
    """The fields of a column, those of structs within it by their way: lines.units."""
    struct = frame.schema[of].dataType
    assert isinstance(struct, StructType)
    for field in struct.fields:
        if isinstance(field.dataType, StructType):
            yield from (
                f"{field.name}.{inner}" for inner in leaves(frame.select(f"{of}.*"), field.name)
            )
        else:
            yield field.name


@pytest.mark.spark
@EVERY
def test_it_reads_no_field_that_it_does_not_declare(name: str, spark: SparkSession) -> None:
    one = load(name)
    for topic in one.posts:
        posted(spark, one, topic, declared(name, topic))


@EVERY
def test_it_declares_what_it_looks_up(name: str) -> None:
    for side in load(name).sides:
        looked_up = {("event_id",), (side.since,), *((one,) for one in side.columns)}
        keys = {(one,) for one in side.topic.key}
        assert looked_up | keys == set(declared(name, side.topic))


@pytest.mark.spark
@EVERY
def test_it_declares_no_field_that_it_does_not_read(name: str, spark: SparkSession) -> None:
    one = load(name)
    unread = []
    for topic in one.posts:
        paths = set(declared(name, topic))
        for path in sorted(paths - OF_THE_SHELL):
            try:
                posted(spark, one, topic, paths - {path})
            except AnalysisException:
                continue
            unread.append(f"{topic.name}: {spelled(path)}")
    assert not unread
