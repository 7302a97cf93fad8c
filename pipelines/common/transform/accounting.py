"""Record accounting: per topic and partition, how many records were applied and quarantined.

Each record adds one line of its own, with no field of any view. So the accounting has the state and
the batch of the rows, and a branch of its own, which would deduplicate twice, is not needed.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

KEY = ("_topic", "_partition")
"""The key of an accounting row; null in every other row."""


def is_accounting() -> Column:
    """Whether a row is accounting, and of no view."""
    return F.col("_topic").isNotNull()


def build_aggregates() -> Mapping[str, Column]:
    """How many records were applied and quarantined, and when the newest was published."""
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
