"""Refines bronze to silver: the accepted events of a topic, each once."""

from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from contracts.times import MILLISECOND
from infra.lake import Coverage
from pipelines.common.runtime.archive import is_between
from pipelines.lake.tables import Table
from pipelines.lake.transform import accept, keep_first_copies

APART_MAX = timedelta(days=1)
"""A copy says of its event the same time. One that is off by less is looked for all the same."""


def refine(
    spark: SparkSession, topic: Contract, bronze: Table, silver: Table, until: Coverage
) -> None:
    """Append the events of the topic that bronze has beyond silver."""
    before, ends = silver.read_coverage(), until.of(topic.name)
    if before.ends == ends:
        return
    records = bronze.read(spark).where(F.col("topic") == topic.name)
    beyond = records.where(is_between("partition", "offset", before.ends, ends))
    new = keep_first_copies(accept(topic, beyond)).persist()
    try:
        silver.write(drop_known(new, silver.read(spark)), before.then(ends))
    finally:
        new.unpersist()


def drop_known(new: DataFrame, known: DataFrame) -> DataFrame:
    """The events without an earlier copy in `known`, with the same columns."""
    [oldest] = new.agg(F.min(F.unix_millis("event_time")).alias("ms")).collect()
    if oldest["ms"] is None:
        return new
    since = F.timestamp_millis(F.lit(oldest["ms"] - APART_MAX // MILLISECOND))
    near = known.where(F.col("event_time") >= since)
    return new.join(near.select("_partition", "event_id"), ["_partition", "event_id"], "left_anti")
