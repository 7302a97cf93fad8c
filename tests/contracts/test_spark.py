"""Spark reads what Python writes."""

import json

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import StructType

from contracts import (
    CONTRACTS,
    Contract,
    build_avro_schema,
    decode,
    encode,
    render_spark_ddl,
)
from tests.contracts.strategies import draw_records, valid
from tests.rows import collect_rows

FRAME_BYTES = 5
RECORDS = 50

EVERY = pytest.mark.parametrize("name", CONTRACTS)

pytestmark = pytest.mark.spark


@EVERY
def test_spark_decodes_as_python_with_the_types_of_the_contract(
    spark: SparkSession, name: str
) -> None:
    agreed = CONTRACTS[name]
    records = draw_records(valid(agreed), RECORDS)
    written = [encode(agreed, record) for record in records]
    frame = select_decoded(spark, agreed, written)
    # The strings say nothing of nulls, on which the two may differ.
    assert frame.schema.simpleString() == parse_struct(agreed).simpleString()
    assert collect_rows(frame) == [decode(one).value for one in written]


def parse_struct(agreed: Contract) -> StructType:
    schema = StructType.fromDDL(render_spark_ddl(agreed))
    assert isinstance(schema, StructType)
    return schema


def select_decoded(spark: SparkSession, agreed: Contract, written: list[bytes]) -> DataFrame:
    frame = spark.createDataFrame([(one,) for one in written], "value BINARY").coalesce(1)
    body = F.expr(f"substring(value, {FRAME_BYTES + 1})")
    schema = json.dumps(build_avro_schema(agreed))
    return frame.select(from_avro(body, schema, {"mode": "FAILFAST"}).alias("event")).select(
        "event.*"
    )
