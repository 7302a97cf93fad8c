"""The plan of the batch that a query is writing, and what it has done by then."""

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

SCAN = "MicroBatchScan"
ROWS = "numOutputRows"


class RunningBatch:
    """The newest batch of the query of this name, which is started once."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._name = name
        self._query: StreamingQuery | None = None

    def count_dropped(self) -> int:
        """How many rows came behind the watermark, so that no state has them."""
        plan, jvm = self._find_plan(), self._spark.sparkContext._jvm
        assert plan is not None, "a batch is being written"
        assert jvm is not None, "its session has a gateway"
        return int(jvm.retail.plan.Drops.count(plan))

    def count_read(self) -> int | None:
        """How many records Spark has read. None: its query has none, or no scan of its own."""
        plan = self._find_plan()
        if plan is None:
            return None
        leaves = plan.collectLeaves()
        scans = [one for one in map(leaves.apply, range(leaves.size())) if is_scan(one)]
        return sum(one.metrics().apply(ROWS).value() for one in scans) if scans else None

    def _find_plan(self) -> JavaObject | None:
        if self._query is None:
            active = self._spark.streams.active
            self._query = next((one for one in active if one.name == self._name), None)
        if self._query is None:
            return None
        return self._query._jsq.streamingQuery().lastExecution().executedPlan()


def is_scan(leaf: JavaObject) -> bool:
    """Whether it reads Kafka for a batch of a stream, and not something beside it."""
    return bool(leaf.nodeName().startswith(SCAN))
