"""Two validators, one verdict: Python says of every record what Spark says."""

from datetime import datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from contracts import RELEASES, Contract
from contracts.validation import VALIDATED, Rejection
from contracts.validation import validate as validated
from pipelines.common.transform.events import validate_events
from tests.pipelines.dirt import Sent, damage, list_records
from tests.pipelines.log import OPENING, RECORD

# A release is also compared with its original, by other code.
EVERY = pytest.mark.parametrize("name", [one for one in VALIDATED if one != RELEASES.name])

pytestmark = pytest.mark.spark


@EVERY
@pytest.mark.crosses("pipelines/common/runtime/session/ANNOUNCED_MAX")
def test_python_and_spark_give_the_same_reasons(spark: SparkSession, name: str) -> None:
    agreed = VALIDATED[name]
    log = [*list_records(agreed), *damage(agreed)]
    published = [OPENING + timedelta(minutes=number % 400 - 60) for number in range(len(log))]
    ours = [find_reason(agreed, one, at) for one, at in zip(log, published, strict=True)]
    assert len(set(ours)) > 5
    theirs = validate_in_spark(spark, agreed, log, published)
    assert [
        (*one, mine, other)
        for one, mine, other in zip(log, ours, theirs, strict=True)
        if mine != other
    ] == []


def find_reason(agreed: Contract, one: Sent, published: datetime) -> str | None:
    verdict = validated(agreed, *one, round(published.timestamp() * 1000))
    return verdict.reason if isinstance(verdict, Rejection) else None


def validate_in_spark(
    spark: SparkSession, agreed: Contract, log: list[Sent], published: list[datetime]
) -> list[str | None]:
    rows = [
        (agreed.name, 0, offset, at, *one)
        for offset, (one, at) in enumerate(zip(log, published, strict=True))
    ]
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    reasons = validate_events((agreed,), records).select("_reason").collect()
    return [row["_reason"] for row in reasons]
