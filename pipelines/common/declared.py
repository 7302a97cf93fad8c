"""Of each event what the pipeline's file in contracts/consumers declares: nothing else is there."""

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import Contract
from contracts.consumer import declared
from contracts.errors import Undeclared
from contracts.projection import Path, projection
from contracts.shape import Field
from pipelines.common.events import META, column
from pipelines.common.pipeline import AsOf, Pipeline


def declared_events(pipeline: Pipeline, judged: DataFrame) -> DataFrame:
    """The columns of META, and for each topic that the pipeline posts a column with its event.

    Judged by its contract an event was whole; from here on only its declared fields exist. Raises
    Undeclared where the file does not name a topic, or what a side looks up.
    """
    for side in pipeline.sides:
        refuse_undeclared(pipeline, side)
    return judged.select(
        *META,
        *[
            only(F.col(column(topic)), topic, declared(pipeline.name, topic)).alias(column(topic))
            for topic in pipeline.reads
        ],
    )


def refuse_undeclared(pipeline: Pipeline, side: AsOf) -> None:
    named = set(declared(pipeline.name, side.topic))
    for field in (*side.topic.key, side.since, *side.columns):
        if (field,) not in named:
            raise Undeclared(pipeline.name, side.topic.name, field)


def only(event: Column, contract: Contract, paths: Collection[Path]) -> Column:
    """The event with the fields on these paths.

    An array of items is a struct with an array per field, read as before: event["lines"]["sku"].
    Spark's optimizer sees through structs, so that none of them is ever built; through items that
    are zipped anew it would not.
    """
    return struct(event, projection(contract.fields, paths))


def struct(value: Column, fields: Sequence[Field]) -> Column:
    return F.struct(
        *[
            (struct(value[one.name], one.fields) if one.fields else value[one.name]).alias(one.name)
            for one in fields
        ]
    )
