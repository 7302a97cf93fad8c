"""Schemas that the lock was told of after this process had loaded it.

A schema is in the lock before anybody writes with it. So where the lock has none that was not
loaded, a batch holds none either; where it has one, good records could count as undecodable.
"""

from collections.abc import Collection, Iterable

from pyspark.sql import DataFrame

from contracts import Contract
from contracts.schemas import registered_since
from infra.errors import Trouble
from pipelines.common.pipeline import Pipeline
from pipelines.common.sink import Write


class NewerSchema(Trouble):
    """The lock has a schema that this process has not loaded."""

    def __init__(self, reader: str, numbers: Collection[int]) -> None:
        listed = ", ".join(map(str, sorted(numbers)))
        super().__init__(
            f"{reader} should know every schema of what it reads, but the lock file has {listed} "
            "by now, which it has not loaded: it reads no further, and nothing is lost. Started "
            "again, as the supervisor does, it knows them: make down && make up"
        )


def refusing_newer(pipeline: Pipeline, write: Write) -> Write:
    """Writes a batch once everything in it could be read. It raises NewerSchema."""

    def checked(records: DataFrame, batch: int) -> None:
        refuse_newer(pipeline.name, read_by(pipeline))
        write(records, batch)

    return checked


def read_by(pipeline: Pipeline) -> tuple[Contract, ...]:
    """Every topic whose records it decodes."""
    return (*pipeline.inputs, *(side.topic for side in pipeline.sides))


def refuse_newer(reader: str, topics: Iterable[Contract]) -> None:
    """Raises NewerSchema when one of the topics has a schema that this process has not loaded."""
    if newer := registered_since({one.name for one in topics}):
        raise NewerSchema(reader, newer)
