"""Schemas in the lock that are newer than this process.

The lock has a schema before any writer uses it. So if this process has loaded all schemas of the
lock, it can decode every record of a batch; otherwise good records could count as undecodable.
"""

from collections.abc import Collection, Iterable

from pyspark.sql import DataFrame

from contracts import Contract
from contracts.schemas import find_registered_since
from infra.errors import UserError
from pipelines.common.pipeline import Pipeline
from pipelines.engine.sink import Write


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
    """A function that writes a batch if every record can be decoded; it raises NewerSchema."""

    def checked(records: DataFrame, batch: int) -> None:
        refuse_newer(pipeline.name, list_decoded_topics(pipeline))
        write(records, batch)

    return checked


def list_decoded_topics(pipeline: Pipeline) -> tuple[Contract, ...]:
    """Every topic whose records the pipeline decodes."""
    return (*pipeline.inputs, *(one.topic for one in pipeline.dimensions))


def refuse_newer(reader: str, topics: Iterable[Contract]) -> None:
    """Raise NewerSchema if one of the topics has a schema that this process has not loaded."""
    if newer := find_registered_since({one.name for one in topics}):
        raise NewerSchema(reader, newer)
