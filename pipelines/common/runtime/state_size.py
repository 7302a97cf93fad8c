"""How large a generation's state is, as Spark reports it with each batch."""

from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

ON_DISK = "rocksdbSstFileSize"
"""What the state store adds to Spark's own figures: the bytes of its files."""


class StateSize:
    """The state of one generation. One thread measures it, another one reads it."""

    def __init__(self) -> None:
        self.size_bytes: int | None = None
        """In memory and on disk, after the last batch that Spark has reported; None before that."""

    def measure(self, query: StreamingQuery) -> None:
        # Only two figures are fetched from Java: all of a report would cost as much as a batch.
        progress = query._jsq.lastProgress()
        if progress is not None:
            self.size_bytes = sum(map(_measure_operator, progress.stateOperators()))


def _measure_operator(operator: Any) -> int:
    on_disk = operator.customMetrics().get(ON_DISK)
    return int(operator.memoryUsedBytes()) + int(on_disk or 0)
