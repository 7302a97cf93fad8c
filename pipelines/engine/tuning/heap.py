"""Keeps Java's memory as small as its live objects allow.

A large heap lets a process catch up without constant garbage collection. Live batches leave a
little in the old generation of the heap, which Java itself collects only when all of the heap is
full. This module collects it as soon as it has grown by three quarters since the last collection.
Java then returns the free memory. What its compilers and RocksDB have freed outside of the heap it
returns by itself, each minute.
"""

import time
from typing import Any

from pyspark.sql import SparkSession

from infra.java import TRIM_NATIVE

LOOK_SECONDS = 30.0
"""The time between two checks of the heap. A collection takes about half a second."""
OLD_MIB_MIN = 320
"""What the old generation may hold without a collection, in a session of pipelines."""
GROWTH = 1.75
"""The factor by which it may exceed the rest after the last collection."""
OPTIONS = (
    "-XX:-ShrinkHeapInSteps",
    "-XX:MinHeapFreeRatio=20",
    "-XX:MaxHeapFreeRatio=50",
    TRIM_NATIVE,
)
"""Options of Java, with which a collection returns memory at once."""

MIB = 1024**2
OLD_PART = "Tenured Gen"
"""The name of the old generation in Java's serial collector."""


class Heap:
    """The heap of a session's Java."""

    def __init__(self, spark: SparkSession, old_mib_min: int = OLD_MIB_MIN) -> None:
        java: Any = spark.sparkContext._jvm
        self._java = java
        factory = java.java.lang.management.ManagementFactory
        [self._old] = [
            pool for pool in factory.getMemoryPoolMXBeans() if pool.getName() == OLD_PART
        ]
        self._least = old_mib_min * MIB
        self._looked = time.monotonic()

    def look(self) -> None:
        """Collect if the old generation has grown; callers may call it at any rate."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self.collect_growth()
            self._looked = time.monotonic()

    def collect_growth(self) -> bool:
        """Collect the old generation if it holds much more than after the last collection."""
        used, survived = self._old.getUsage().getUsed(), self._old.getCollectionUsage().getUsed()
        grown: bool = used > max(self._least, GROWTH * survived)
        if grown:
            self._java.java.lang.System.gc()
        return grown
