"""Two validators, one verdict: Python says of every record what Spark says."""

from datetime import datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from contracts import RELEASES, Contract
from contracts.validation import VALIDATED, WRONG_PARTITION, Rejection
from contracts.validation import validate as validated
from pipelines.common.transform.events import validate_events
from tests.pipelines.dirt import Sent, damage, list_records, place
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
    ours = [
        find_reason(agreed, one, at, place(agreed, one[0], number))
        for number, (one, at) in enumerate(zip(log, published, strict=True))
    ]
    assert len(set(ours)) > 5
    assert agreed.settings.partitions == 1 or WRONG_PARTITION in ours
    theirs = validate_in_spark(spark, agreed, log, published)
    assert [
        (*one, mine, other)
        for one, mine, other in zip(log, ours, theirs, strict=True)
        if mine != other
    ] == []


def find_reason(agreed: Contract, one: Sent, published: datetime, partition: int) -> str | None:
    verdict = validated(agreed, *one, round(published.timestamp() * 1000), partition)
    return verdict.reason if isinstance(verdict, Rejection) else None


def validate_in_spark(
    spark: SparkSession, agreed: Contract, log: list[Sent], published: list[datetime]
) -> list[str | None]:
    rows = [
        (agreed.name, place(agreed, one[0], offset), offset, at, *one)
        for offset, (one, at) in enumerate(zip(log, published, strict=True))
    ]
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    reasons = validate_events((agreed,), records).select("_reason").collect()
    return [row["_reason"] for row in reasons]
