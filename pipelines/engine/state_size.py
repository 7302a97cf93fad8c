"""The size of a generation's state, by Spark's report of each batch."""

from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

ON_DISK = "rocksdbSstFileSize"
"""The figure that the state store adds to Spark's own: the bytes of its files."""


class StateSize:
    """The size of one generation's state. One thread measures it, another one reads it."""

    def __init__(self) -> None:
        self.size_bytes: int | None = None
        """The bytes in memory and on disk after the last reported batch; None before the first."""

    def measure(self, query: StreamingQuery) -> None:
        # This fetches only two figures from Java: a whole report would cost as much as a batch.
        progress = query._jsq.lastProgress()
        if progress is not None:
            self.size_bytes = sum(map(_measure_operator, progress.stateOperators()))


def _measure_operator(operator: Any) -> int:
    on_disk = operator.customMetrics().get(ON_DISK)
    return int(operator.memoryUsedBytes()) + int(on_disk or 0)
