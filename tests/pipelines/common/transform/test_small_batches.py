"""What a small batch is read by, and what a large one is, are of one mind on the same bytes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import RELEASES, Contract, Row, encode, encode_key
from contracts.validation import RELEASABLE
from infra.settings import Settings
from pipelines.common.pipeline import list_pipelines, load
from pipelines.common.transform.extract import extract
from pipelines.common.transform.lines import explode_lines
from tests.pipelines.dirt import Sent, damage, list_records, place
from tests.pipelines.log import OPENING, RECORD
from tests.seeds import create_random

numbers = count()

pytestmark = pytest.mark.spark


def test_both_read_the_same_movements_from_any_bytes(spark: SparkSession) -> None:
    read_alike(spark, "inventory")


def test_both_read_what_another_pipeline_declares_from_any_bytes(spark: SparkSession) -> None:
    others = [name for name in list_pipelines() if name != "inventory"]
    read_alike(spark, create_random("another pipeline").choice(others))


def read_alike(spark: SparkSession, name: str) -> None:
    pipeline = replace(load(name), dimensions=())  # what is looked up is no matter of bytes
    log = create_records(
        spark, [(topic, *one) for topic in pipeline.inputs for one in list_dirt(topic)]
    )
    large, small = (extract(pipeline, log, how) for how in (None, Settings()))
    assert [field.name for field in small.schema] == [field.name for field in large.schema]
    assert [field.dataType for field in small.schema] == [field.dataType for field in large.schema]
    expected, actual = to_texts(large), to_texts(small)
    assert [pair for pair in zip(expected, actual, strict=True) if pair[0] != pair[1]] == []
    assert explode_lines(pipeline, small).schema == explode_lines(pipeline, large).schema
    assert {row["_of"] for row in expected if row["_reason"] is None} >= {
        topic.name for topic in pipeline.reads
    }
    assert len({row["_reason"] for row in expected}) > 20


def list_dirt(topic: Contract) -> Iterator[Sent]:
    """Good and bad records of the topic; of releases also such as wrap good and bad ones."""
    yield from list_records(topic)
    yield from damage(topic)
    if topic is not RELEASES:
        return
    for original in RELEASABLE.values():
        for of_key, value in [*list_records(original), *damage(original)][::5]:
            for wrapping in (original, RELEASES):
                release = create_release(original, wrapping, of_key or b"", value or b"")
                yield encode_key(RELEASES, release), encode(RELEASES, release)


def create_release(original: Contract, wrapping: Contract, of_key: bytes, value: bytes) -> Row:
    """A release; of what the examples of the contract have as their id."""
    return {
        **RELEASES.examples[0],
        "event_id": f"L-{next(numbers)}",
        "event_time": OPENING,
        "topic": wrapping.name,
        "record_key": of_key.decode(errors="replace"),
        "original_event_id": original.examples[0]["event_id"],
        "value": value,
    }


def create_records(
    spark: SparkSession, log: list[tuple[Contract, bytes | None, bytes | None]]
) -> DataFrame:
    rows = [
        (topic.name, place(topic, of_key, offset), offset, find_published(offset), of_key, value)
        for offset, (topic, of_key, value) in enumerate(log)
    ]
    return spark.createDataFrame(rows, RECORD).coalesce(1)


def find_published(offset: int) -> datetime:
    return OPENING + timedelta(minutes=offset % 400 - 60)


def to_texts(extracts: DataFrame) -> list[dict[str, Any]]:
    """The rows in their order; of a rejected record what is said of it, none of its event."""
    always = ("_topic", "_partition", "_published", "_reason", "_identity", "_clock", "_beat")
    accepted = F.col("_reason").isNull()
    # As texts: Spark has times that no calendar of Python has.
    columns = [
        (F.col(name) if name in always else F.when(accepted, F.col(name)))
        .cast("string")
        .alias(name)
        for name in extracts.columns
    ]
    return [row.asDict() for row in extracts.select(*columns).collect()]
