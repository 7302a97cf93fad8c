"""Whether the expressions of a live batch are interpreted, or Spark generates code for them.

To generate the code takes as long for twenty records as for thousands; a record takes a fraction of
the time afterwards. A catching-up query has generated code for all of its batches.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame

from pipelines.engine.sink import Write

EXPRESSIONS = "spark.sql.codegen.factoryMode"
"""Spark's option, which a task reads when it begins."""
INTERPRETED, GENERATED = "NO_CODEGEN", "FALLBACK"

GENERATED_RECORDS_MIN = 300
"""A batch of so many records has generated code. Measured at 300 receipts a second: to generate it
took 65 ms of CPU a batch, and 0.33 ms of a record were saved."""


def suit_expressions(write: Write, count_records: Callable[[int], int]) -> Write:
    """A function that writes, with the expressions that suit the number of the batch's records."""

    def write_suited(records: DataFrame, batch: int) -> None:
        large = count_records(batch) >= GENERATED_RECORDS_MIN
        records.sparkSession.conf.set(EXPRESSIONS, GENERATED if large else INTERPRETED)
        write(records, batch)

    return write_suited
