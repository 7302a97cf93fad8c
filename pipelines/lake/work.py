"""A batch: from the log to bronze, from there to silver, from there to gold."""

import logging
import time

from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.common.runtime.newer import refuse_newer
from pipelines.lake.bronze import append
from pipelines.lake.gold import sum_days
from pipelines.lake.silver import refine
from pipelines.lake.tables import EVENTS, Lake

log = logging.getLogger("lake")

TIDY_BATCHES = 100
"""How many commits a table takes before its small files are joined and old ones removed."""


class Work:
    """What is done again and again."""

    def __init__(self, spark: SparkSession, settings: Settings, lake: Lake) -> None:
        self._spark, self._settings, self._lake = spark, settings, lake
        for table in lake.tables:
            table.make(spark)
        self._tidied = {
            table.folder: count_due(table.read_coverage().batch) for table in lake.tables
        }

    def batch(self) -> int:
        """Bring every table to where the log ends, or nearer to it; how many offsets are left.

        Raises OtherLog, NewerSchema.
        """
        begun = time.monotonic()
        left = append(self._spark, self._settings, self._lake.bronze)
        until = self._lake.bronze.read_coverage()
        # Asked once the records are there: with what is registered later none of them is written.
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
    """How often a table of so many batches should have been tidied."""
    return batch // TIDY_BATCHES
