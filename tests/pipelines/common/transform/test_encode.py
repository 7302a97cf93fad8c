"""Keys as Spark writes them are those of the contracts."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from contracts import BEST_SELLERS, BOOKS, STOCK_LEVELS, Contract, render_spark_ddl
from contracts import encode_key as spelled_by_python
from pipelines.common.transform.encode import encode_key

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("view", [STOCK_LEVELS, BOOKS, BEST_SELLERS], ids=str)
def test_spark_and_python_spell_a_key_alike(spark: SparkSession, view: Contract) -> None:
    example: dict[str, Any] = dict(view.examples[0])
    row = spark.createDataFrame([example], render_spark_ddl(view))
    encoded = row.select(encode_key(view, {name: F.col(name) for name in row.columns})).collect()[
        0
    ][0]
    assert encoded.encode() == spelled_by_python(view, example)
