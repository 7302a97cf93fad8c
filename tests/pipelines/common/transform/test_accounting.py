"""Accounting counts records; it gathers nothing of what a pipeline gathers for its views."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType

from pipelines.common.flow import build_static_rows
from pipelines.common.pipeline import list_pipelines, load
from pipelines.common.transform.accounting import is_accounting
from tests.pipelines.log import create_log, receipt
from tests.pipelines.versions import create_lookups

pytestmark = pytest.mark.spark

RECORDS = 3


@pytest.mark.parametrize("name", list_pipelines())
def test_an_accounting_row_holds_no_list(name: str, spark: SparkSession) -> None:
    pipeline = load(name)
    lookups = create_lookups(spark, pipeline.dimensions)
    log = create_log(spark, *[receipt(customer_id="C1", card_token="T1") for _ in range(RECORDS)])
    accounting = build_static_rows(pipeline, log, lookups).where(is_accounting())
    lists = [one.name for one in accounting.schema if isinstance(one.dataType, ArrayType)]
    [row] = accounting.select("_applied", *lists).collect()
    assert row["_applied"] == RECORDS
    assert not any(row[name] for name in lists)
