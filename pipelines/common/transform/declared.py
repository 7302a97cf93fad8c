"""Events narrowed to the fields that the pipeline's file in contracts/consumers declares."""

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import Contract
from contracts.consumer import list_declared
from contracts.errors import Undeclared
from contracts.projection import Path, project_fields
from contracts.shape import Field
from pipelines.common.pipeline import Dimension, Pipeline
from pipelines.common.transform.events import META, name_column


def select_declared(pipeline: Pipeline, validated: DataFrame) -> DataFrame:
    """The columns of META, and for each topic that the pipeline reads a column with its event.

    Validation has seen the whole event; from here on only its declared fields exist. Raises
    Undeclared if the file does not name a topic, or a field of a dimension.
    """
    for dimension in pipeline.dimensions:
        refuse_undeclared(pipeline, dimension)
    return validated.select(
        *META,
        *[
            select_fields(
                F.col(name_column(topic)), topic, list_declared(pipeline.name, topic)
            ).alias(name_column(topic))
            for topic in pipeline.reads
        ],
    )


def refuse_undeclared(pipeline: Pipeline, dimension: Dimension) -> None:
    named = set(list_declared(pipeline.name, dimension.topic))
    for field in (*dimension.topic.key, dimension.since, *dimension.columns):
        if (field,) not in named:
            raise Undeclared(pipeline.name, dimension.topic.name, field)


def select_fields(event: Column, contract: Contract, paths: Collection[Path]) -> Column:
    """The event with the fields on these paths.

    An array of items becomes a struct with an array per field; it is read as before:
    event["lines"]["sku"]. Spark's optimizer resolves structs, so that none is ever built. It would
    not resolve items that are zipped again.
    """
    return build_struct(event, project_fields(contract.fields, paths))


def build_struct(value: Column, fields: Sequence[Field]) -> Column:
    return F.struct(
        *[
            (build_struct(value[one.name], one.fields) if one.fields else value[one.name]).alias(
                one.name
            )
            for one in fields
        ]
    )
