"""From rows to Kafka records."""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from contracts import BOOKS, Contract, avro_schema, schema_id
from pipelines.common.decode import frame
from pipelines.common.fold import is_book
from pipelines.common.generation import Generation
from pipelines.common.pipeline import Pipeline


def changelog(pipeline: Pipeline, generation: Generation, running: DataFrame) -> DataFrame:
    """The rows as records: topic, key, value. Writing one twice changes nothing."""
    row = {field.name: F.col(field.name) for field in pipeline.writes.fields}
    book = book_fields(generation)
    outputs = generation.outputs
    return running.select(
        either(F.lit(outputs[BOOKS.name]), F.lit(outputs[pipeline.writes.name])).alias("topic"),
        either(key(BOOKS, book), key(pipeline.writes, row)).alias("key"),
        either(value(BOOKS, book), value(pipeline.writes, row)).alias("value"),
    )


def book_fields(generation: Generation) -> dict[str, Column]:
    return {
        "pipeline": F.lit(generation.pipeline),
        "generation": F.lit(generation.number),
        "topic": F.col("_topic"),
        "partition": F.col("_partition"),
        "applied": F.col("_applied"),
        "quarantined": F.col("_quarantined"),
        "published_max": F.col("_published"),
        "version": F.col("_applied") + F.col("_quarantined"),
    }


def either(book: Column, row: Column) -> Column:
    return F.when(is_book(), book).otherwise(row)


def key(contract: Contract, fields: Mapping[str, Column]) -> Column:
    return F.concat_ws("/", *[fields[name].cast("string") for name in contract.key])


def value(contract: Contract, fields: Mapping[str, Column]) -> Column:
    struct = F.struct(*[fields[field.name].alias(field.name) for field in contract.fields])
    body = to_avro(struct, json.dumps(avro_schema(contract)))
    return F.concat(F.lit(frame(schema_id(contract))), body)
