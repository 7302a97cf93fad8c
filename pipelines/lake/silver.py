"""Refines bronze to silver: the accepted events of a topic, each once."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import Contract
from infra.lake import Coverage
from pipelines.engine.archive import is_between
from pipelines.lake.tables import Table
from pipelines.lake.transform import IDENTITY, accept, keep_first_copies


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
    near = known.where(F.col("event_time") >= F.timestamp_millis(F.lit(oldest["ms"])))
    identity = ["_partition", *IDENTITY]
    return new.join(near.select(*identity), identity, "left_anti")
