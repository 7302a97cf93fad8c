"""The fields that a pipeline may read: those that its file in contracts/consumers declares."""

from collections.abc import Collection, Mapping

from contracts import Contract
from contracts.consumer import list_declared
from contracts.errors import Undeclared
from contracts.projection import Path
from pipelines.common.pipeline import Dimension, Pipeline


def list_fields(pipeline: Pipeline) -> Mapping[Contract, Collection[Path]]:
    """The fields of each topic that the pipeline reads.

    Raises Undeclared if the file does not name a topic, or a field of a dimension.
    """
    for dimension in pipeline.dimensions:
        refuse_undeclared(pipeline, dimension)
    return {topic: list_declared(pipeline.name, topic) for topic in pipeline.reads}


def refuse_undeclared(pipeline: Pipeline, dimension: Dimension) -> None:
    named = set(list_declared(pipeline.name, dimension.topic))
    for field in (*dimension.topic.key, dimension.since, *dimension.columns):
        if (field,) not in named:
            raise Undeclared(pipeline.name, dimension.topic.name, field)
