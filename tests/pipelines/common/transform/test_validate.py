from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from contracts import RECEIPTS
from pipelines.common.transform.validate import validate
from tests.pipelines.log import Published, create_log, receipt

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)


def find_reason(spark: SparkSession, record: Published) -> str | None:
    [validated] = validate({RECEIPTS: ()}, create_log(spark, record)).collect()
    reason = validated["_reason"]
    assert reason is None or isinstance(reason, str)
    return reason


def test_a_good_record_has_no_reason(spark: SparkSession) -> None:
    assert find_reason(spark, receipt()) is None


def test_the_horizon_is_the_last_moment_that_counts(spark: SparkSession) -> None:
    assert find_reason(spark, receipt(after=120 * MINUTE)) is None
    assert find_reason(spark, receipt(after=120 * MINUTE + timedelta(milliseconds=1))) == "late"


def test_a_clock_may_be_ahead_by_the_skew_and_no_more(spark: SparkSession) -> None:
    assert find_reason(spark, receipt(after=-5 * MINUTE)) is None
    assert find_reason(spark, receipt(after=-5 * MINUTE - timedelta(milliseconds=1))) == "future"


def test_a_record_without_a_value_is_undecodable(spark: SparkSession) -> None:
    assert find_reason(spark, replace(receipt(), value=None)) == "undecodable"


def test_a_schema_nobody_registered_is_undecodable(spark: SparkSession) -> None:
    unknown = b"\0\xff\xff\xff\xff" + b"whatever"
    assert find_reason(spark, replace(receipt(), value=unknown)) == "undecodable"


def test_a_body_cut_short_is_undecodable(spark: SparkSession) -> None:
    whole = receipt().value
    assert whole is not None
    assert find_reason(spark, replace(receipt(), value=whole[:-4])) == "undecodable"


def test_a_key_that_is_not_the_store_is_refused(spark: SparkSession) -> None:
    assert find_reason(spark, replace(receipt(), key=b"S002")) == "wrong-key"


def test_a_broken_rule_is_the_reason(spark: SparkSession) -> None:
    assert find_reason(spark, receipt(("A", 0))) == "lines[].units is at least 1"


def test_every_record_is_validated_not_only_the_good_ones(spark: SparkSession) -> None:
    log = receipt(), receipt(("A", 0)), replace(receipt(), value=b"")
    assert validate({RECEIPTS: ()}, create_log(spark, *log)).count() == 3
