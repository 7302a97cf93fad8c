"""Record accounting: the numbers of applied and quarantined records, per topic and partition.

Each record adds one accounting line, without a field of any view. So the accounting shares state
and batch with the rows. A branch of its own would have to deduplicate a second time.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

KEY = ("_topic", "_partition")
"""The key of an accounting row; null in every other row."""


def is_accounting() -> Column:
    """Whether a row is an accounting row, not a row of a view."""
    return F.col("_topic").isNotNull()


def build_aggregates() -> Mapping[str, Column]:
    """The numbers of applied and quarantined records, and the newest publication time."""
    return {
        "_applied": F.count_if("_applied"),
        "_quarantined": F.count_if(~F.col("_applied")),
        "_published": F.max("_published"),
    }


def build_fields(pipeline: str, generation: int) -> Mapping[str, Column]:
    """The fields of the accounting's contract, from an accounting row."""
    return {
        "pipeline": F.lit(pipeline),
        "generation": F.lit(generation),
        "topic": F.col("_topic"),
        "partition": F.col("_partition"),
        "applied": F.col("_applied"),
        "quarantined": F.col("_quarantined"),
        "published_max": F.col("_published"),
        "version": F.col("_applied") + F.col("_quarantined"),
    }
