"""Spark reads what Python writes, and validates it alike."""

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import IntegerType, StructType

from contracts import (
    CONTRACTS,
    Contract,
    Row,
    build_avro_schema,
    decode,
    encode,
    render_rule_sql,
    render_spark_ddl,
)
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import draw_records, typed, valid
from tests.rows import collect_rows

FRAME_BYTES = 5
RECORDS = 100

EVERY = pytest.mark.parametrize("name", CONTRACTS)

pytestmark = pytest.mark.spark


@EVERY
def test_python_and_spark_name_the_same_broken_rules(spark: SparkSession, name: str) -> None:
    agreed = CONTRACTS[name]
    candidates = [
        *agreed.examples,
        *(example.value for example in agreed.invalid_examples),
        *draw_records(typed(agreed), RECORDS),
    ]
    asked = {rule for rule, _ in render_rule_sql(agreed)}
    validated = [(record, find_broken_rules(agreed, record)) for record in candidates]
    on_the_wire = [(record, broken) for record, broken in validated if broken <= asked]
    assert len(on_the_wire) > len(asked)
    in_spark = find_broken_in_spark(spark, agreed, [record for record, _ in on_the_wire])
    assert in_spark == [broken for _, broken in on_the_wire]


@EVERY
def test_python_and_spark_decode_the_same(spark: SparkSession, name: str) -> None:
    agreed = CONTRACTS[name]
    records = draw_records(valid(agreed), RECORDS)
    written = [encode(agreed, record) for record in records]
    assert decode_in_spark(spark, agreed, written) == [decode(one).value for one in written]


@EVERY
def test_spark_has_the_types_of_the_contract(spark: SparkSession, name: str) -> None:
    agreed = CONTRACTS[name]
    frame = select_decoded(spark, agreed, [encode(agreed, agreed.examples[0])])
    # The strings say nothing of nulls, on which the two may differ.
    assert frame.schema.simpleString() == parse_struct(agreed).simpleString()


def find_broken_in_spark(
    spark: SparkSession, agreed: Contract, records: list[Row]
) -> list[set[str]]:
    """For each record the rules that are false; none may be null."""
    rows = [tuple(record[field.name] for field in agreed.fields) for record in records]
    schema = StructType().add("at", IntegerType()).add("event", parse_struct(agreed))
    frame = spark.createDataFrame(list(enumerate(rows)), schema)
    rules = render_rule_sql(agreed, prefix="event.")
    verdicts = frame.select("at", F.array(*[F.expr(sql) for _, sql in rules]).alias("holds"))
    by_record: dict[int, list[bool | None]] = {
        row["at"]: row["holds"] for row in verdicts.collect()
    }
    assert not any(None in holds for holds in by_record.values())
    return [
        {name for (name, _), holds in zip(rules, by_record[at], strict=True) if not holds}
        for at in range(len(records))
    ]


def parse_struct(agreed: Contract) -> StructType:
    schema = StructType.fromDDL(render_spark_ddl(agreed))
    assert isinstance(schema, StructType)
    return schema


def decode_in_spark(
    spark: SparkSession, agreed: Contract, written: list[bytes]
) -> list[dict[str, Any]]:
    return collect_rows(select_decoded(spark, agreed, written))


def select_decoded(spark: SparkSession, agreed: Contract, written: list[bytes]) -> DataFrame:
    frame = spark.createDataFrame([(one,) for one in written], "value BINARY").coalesce(1)
    body = F.expr(f"substring(value, {FRAME_BYTES + 1})")
    schema = json.dumps(build_avro_schema(agreed))
    return frame.select(from_avro(body, schema, {"mode": "FAILFAST"}).alias("event")).select(
        "event.*"
    )
