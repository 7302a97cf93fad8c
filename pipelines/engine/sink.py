"""Writes each batch: first the rows to their changelogs, then the marker."""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from time import monotonic

from pyspark.sql import DataFrame

from contracts import Contract
from contracts.schemas import find_registered_since
from infra.errors import UserError
from infra.kafka import Offsets, create_admin, create_producer
from infra.settings import Settings
from ops.generations.marker import publish_marker
from ops.generations.record import Generation
from pipelines.common.pipeline import Pipeline
from pipelines.engine.checkpoint import ReadEnd
from pipelines.engine.running_batch import StateSize
from pipelines.engine.source import build_kafka_options

Write = Callable[[DataFrame, int], None]
"""Writes the rows of the batch of that number."""


def write_after(step: Callable[[], None], write: Write) -> Write:
    """A function that writes each batch after this step, which may raise instead."""

    def step_and_write(records: DataFrame, batch: int) -> None:
        step()
        write(records, batch)

    return step_and_write


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


EXPRESSIONS = "spark.sql.codegen.factoryMode"
"""Spark's option, which a task reads when it begins."""
INTERPRETED, GENERATED = "NO_CODEGEN", "FALLBACK"

GENERATED_RECORDS_MIN = 300
"""A batch of so many records has generated code. Measured at 300 receipts a second: to generate it
took 65 ms of CPU a batch, and 0.33 ms of a record were saved."""

WHOLE_STAGES = "spark.sql.codegen.wholeStage"
"""Spark's option whether a stage is one piece of code, which it reads when it plans a batch."""

WHOLE_RECORDS_MIN = 2_000
"""A batch after one of so many records has its stages in one piece, as those of a backlog. It saved
an eighth to a quarter of such a batch's CPU."""


def suit_plan(write: Write, count_records: Callable[[int], int]) -> Write:
    """A function that writes, with the code that suits the number of the batch's records.

    To generate code takes as long for twenty records as for thousands; a record takes a fraction of
    the time afterwards. A task asks for its expressions when it begins. The stages were planned
    before the batch is told here, so its number decides those of the next one: a query that falls
    behind has ever larger batches. The options are the query's own.
    """

    def write_suited(records: DataFrame, batch: int) -> None:
        number, options = count_records(batch), records.sparkSession.conf
        options.set(EXPRESSIONS, GENERATED if number >= GENERATED_RECORDS_MIN else INTERPRETED)
        options.set(WHOLE_STAGES, str(number >= WHOLE_RECORDS_MIN).lower())
        write(records, batch)

    return write_suited


class NewerSchema(UserError):
    """The lock has a schema that this process has not loaded."""

    def __init__(self, reader: str, numbers: Collection[int]) -> None:
        listed = ", ".join(map(str, sorted(numbers)))
        super().__init__(
            f"{reader} should know every schema of what it reads, but the lock file has {listed} "
            "by now, which it has not loaded: it reads no further, and nothing is lost. Started "
            "again, as the supervisor does, it knows them: make down && make up"
        )


def refuse_newer_before(pipeline: Pipeline, write: Write) -> Write:
    """A function that writes a batch if every record can be decoded; it raises NewerSchema.

    The lock has a schema before any writer uses it. A process that has loaded all schemas of the
    lock can decode every record of a batch; for another one good records could count as
    undecodable.
    """
    return write_after(partial(refuse_newer, pipeline.name, list_decoded_topics(pipeline)), write)


def list_decoded_topics(pipeline: Pipeline) -> tuple[Contract, ...]:
    """Every topic whose records the pipeline decodes."""
    return (*pipeline.inputs, *(dimension.topic for dimension in pipeline.dimensions))


def refuse_newer(reader: str, topics: Iterable[Contract]) -> None:
    """Raise NewerSchema if one of the topics has a schema that this process has not loaded."""
    if newer := find_registered_since({topic.name for topic in topics}):
        raise NewerSchema(reader, newer)
