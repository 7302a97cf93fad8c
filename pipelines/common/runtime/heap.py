"""Keeps Java's heap as small as what lives in it asks for.

A large heap lets a process catch up without collecting garbage all the time. Live, batches leave a
little in the old part of the heap, and by itself Java collects that only when all of the heap is
full. Here it is asked to as soon as the old part has grown by three quarters since it was last
collected. Java then returns what is free.
"""

import time
from typing import Any

from pyspark.sql import SparkSession

LOOK_SECONDS = 30.0
"""How often the heap is looked at. A collection takes some half a second."""
OLD_MIB_MIN = 320
"""What the old part may hold before it is looked at more closely."""
GROWTH = 1.75
"""How much more it may hold than what the last collection left."""
OPTIONS = ("-XX:-ShrinkHeapInSteps", "-XX:MinHeapFreeRatio=20", "-XX:MaxHeapFreeRatio=50")
"""Java's own, so that a collection returns memory at once."""

MIB = 1024**2
OLD_PART = "Tenured Gen"
"""The name that Java's serial collector gives it."""


class Heap:
    """The heap of a session's Java."""

    def __init__(self, spark: SparkSession) -> None:
        java: Any = spark.sparkContext._jvm
        self._java = java
        factory = java.java.lang.management.ManagementFactory
        [self._old] = [one for one in factory.getMemoryPoolMXBeans() if one.getName() == OLD_PART]
        self._looked = time.monotonic()

    def look(self) -> None:
        """Collect what has grown; called as often as one likes."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self.collect_growth()
            self._looked = time.monotonic()

    def collect_growth(self) -> bool:
        """Have the old part collected if it holds much more than what last survived."""
        used, survived = self._old.getUsage().getUsed(), self._old.getCollectionUsage().getUsed()
        grown: bool = used > max(OLD_MIB_MIN * MIB, GROWTH * survived)
        if grown:
            self._java.java.lang.System.gc()
        return grown
