"""Writes each batch: first the rows to their changelogs, then the marker."""

from collections.abc import Callable
from time import monotonic

from pyspark.sql import DataFrame

from infra.errors import UserError
from infra.kafka import Offsets, create_admin, create_producer
from infra.settings import Settings
from ops.generations.marker import publish_marker
from ops.generations.record import Generation
from pipelines.engine.checkpoint import ReadEnd
from pipelines.engine.source import build_kafka_options
from pipelines.engine.state_size import StateSize

Write = Callable[[DataFrame, int], None]
"""Writes the rows of the batch of that number."""


class Dropped(UserError):
    """The generation has forgotten what records of a batch have to be compared with."""

    def __init__(self, records: int) -> None:
        super().__init__(
            f"Spark dropped {records} records behind the watermark: their own timestamps lie hours "
            "behind what was read before them. A replay counts them."
        )


def create_sink(
    settings: Settings,
    generation: Generation,
    state: StateSize,
    read_end: ReadEnd,
    count_records: Callable[[Offsets], Offsets],
    count_dropped: Callable[[], int],
) -> Write:
    """The function that Spark calls with each batch of records, and again for a repeated batch.

    It raises Dropped before the marker if Spark has dropped a record, so that nobody reads an
    answer without it.
    `count_records`: the number of records below the ends of the batch, which has been written.
    `count_dropped`: the number of records of the batch that no state has.
    """
    options = build_producer_options(settings)
    marker_producer, marker_admin = create_producer(settings, linger_ms=0), create_admin(settings)

    def write(records: DataFrame, batch: int) -> None:
        began = monotonic()
        records.write.format("kafka").options(**options).save()
        took_ms, state_bytes = round((monotonic() - began) * 1000), state.size_bytes
        if dropped := count_dropped():
            raise Dropped(dropped)
        ends = read_end(batch)
        publish_marker(
            marker_producer,
            marker_admin,
            generation,
            batch,
            ends,
            count_records(ends),
            took_ms=took_ms,
            state_bytes=state_bytes,
        )

    return write


def build_producer_options(settings: Settings) -> dict[str, str]:
    """The options with which Spark's connector writes to Kafka."""
    return {
        **build_kafka_options(settings),
        "kafka.acks": "all",
        "kafka.enable.idempotence": "true",
        "kafka.linger.ms": "5",
        "kafka.batch.size": "131072",
        "kafka.compression.type": "lz4",
    }
