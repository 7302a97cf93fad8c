"""The books count records; they gather nothing of what a pipeline gathers for its views."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType

from pipelines.common.fold import is_book, static_totals
from pipelines.common.pipeline import load, pipelines
from pipelines.common.sides import schema
from tests.pipelines.log import receipt, records

pytestmark = pytest.mark.spark

RECORDS = 3


@pytest.mark.parametrize("name", pipelines())
def test_a_row_of_the_books_holds_no_list(name: str, spark: SparkSession) -> None:
    pipeline = load(name)
    sides = {side: spark.createDataFrame([], schema(side)) for side in pipeline.sides}
    log = records(spark, *[receipt(customer_id="C1", card_token="T1") for _ in range(RECORDS)])
    totals = static_totals(pipeline, log, sides).where(is_book())
    lists = [one.name for one in totals.schema if isinstance(one.dataType, ArrayType)]
    [book] = totals.select("_applied", *lists).collect()
    assert book["_applied"] == RECORDS
    assert not any(book[name] for name in lists)
