"""Schemas that were registered in the lock after this process had loaded it.

A schema is in the lock before anybody writes with it. So where the lock has none that was not
loaded, a batch holds none either; where it has one, good records could count as undecodable.
"""

from collections.abc import Collection, Iterable

from pyspark.sql import DataFrame

from contracts import Contract
from contracts.schemas import find_registered_since
from infra.errors import UserError
from pipelines.common.pipeline import Pipeline
from pipelines.common.runtime.sink import Write


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
    """Write a batch once every record in it can be decoded; raises NewerSchema."""

    def checked(records: DataFrame, batch: int) -> None:
        refuse_newer(pipeline.name, list_decoded_topics(pipeline))
        write(records, batch)

    return checked


def list_decoded_topics(pipeline: Pipeline) -> tuple[Contract, ...]:
    """Every topic whose records the pipeline decodes."""
    return (*pipeline.inputs, *(one.topic for one in pipeline.dimensions))


def refuse_newer(reader: str, topics: Iterable[Contract]) -> None:
    """Raise NewerSchema when one of the topics has a schema that this process has not loaded."""
    if newer := find_registered_since({one.name for one in topics}):
        raise NewerSchema(reader, newer)
