"""A batch of the lake: from the log to bronze, to silver, to gold."""

import logging
import time

from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.engine.sink import refuse_newer
from pipelines.lake.bronze import append
from pipelines.lake.gold import sum_days
from pipelines.lake.silver import refine
from pipelines.lake.tables import EVENTS, Lake

log = logging.getLogger("lake")

TIDY_BATCHES = 100
"""The number of commits of a table between two tidyings: joining small files, removing old ones."""


class Work:
    """The lake's batches, and the tidying of its tables."""

    def __init__(self, spark: SparkSession, settings: Settings, lake: Lake) -> None:
        self._spark, self._settings, self._lake = spark, settings, lake
        for table in lake.tables:
            table.make(spark)
        self._tidied = {
            table.folder: count_due(table.read_coverage().batch) for table in lake.tables
        }

    def batch(self) -> int:
        """Bring every table up to the log's end, or nearer. Returns the number of offsets left.

        Raises OtherLog, NewerSchema.
        """
        begun = time.monotonic()
        left = append(self._spark, self._settings, self._lake.bronze)
        until = self._lake.bronze.read_coverage()
        # After the records are read: none of them uses a schema that is registered later.
        refuse_newer("the lake", EVENTS)
        for topic in EVENTS:
            refine(self._spark, topic, self._lake.bronze, self._lake.silver(topic), until)
        sum_days(self._spark, self._lake)
        self._tidy_what_is_due()
        log.info("batch %d: %d left, %.1f s", until.batch, left, time.monotonic() - begun)
        return left

    def tidy(self) -> None:
        for table in self._lake.tables:
            table.tidy(self._spark)

    def _tidy_what_is_due(self) -> None:
        for table in self._lake.tables:
            reached = count_due(table.read_coverage().batch)
            if reached > self._tidied[table.folder]:
                table.tidy(self._spark)
                self._tidied[table.folder] = reached


def count_due(batch: int) -> int:
    """The number of tidyings that are due for a table with so many batches."""
    return batch // TIDY_BATCHES
