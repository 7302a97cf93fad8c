"""What Spark says of good and bad receipts, in one run."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from contracts import RECEIPTS
from pipelines.common.transform.validate import validate
from tests.pipelines.log import create_log, receipt

MILLISECOND, MINUTE = timedelta(milliseconds=1), timedelta(minutes=1)


@pytest.mark.spark
def test_every_record_is_validated_and_a_bad_one_has_a_reason(spark: SparkSession) -> None:
    good = receipt()
    assert good.value is not None
    unregistered = b"\0\xff\xff\xff\xff" + b"whatever"
    expected = [
        (good, None),
        (receipt(after=120 * MINUTE), None),  # the last moment of the horizon
        (receipt(after=120 * MINUTE + MILLISECOND), "late"),
        (receipt(after=-5 * MINUTE), None),  # the skew of a clock
        (receipt(after=-5 * MINUTE - MILLISECOND), "future"),
        (replace(good, value=None), "undecodable"),
        (replace(good, value=unregistered), "undecodable"),
        (replace(good, value=good.value[:-4]), "undecodable"),
        (replace(good, key=b"S002"), "wrong-key"),
        (receipt(("A", 0)), "lines[].units is at least 1"),
    ]
    log = create_log(spark, *[record for record, _ in expected]).coalesce(1)
    found = [row["_reason"] for row in validate({RECEIPTS: ()}, log).collect()]
    assert found == [reason for _, reason in expected]
