"""From rows to Kafka records."""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from contracts import BOOKS, Contract, avro_schema, schema_id
from pipelines.common.choose import choose
from pipelines.common.decode import frame
from pipelines.common.fold import is_book, is_of
from pipelines.common.generation import Generation
from pipelines.common.pipeline import Pipeline


def changelog(pipeline: Pipeline, generation: Generation, running: DataFrame) -> DataFrame:
    """The rows as records: topic, key, value. Writing one twice changes nothing."""
    outputs = generation.outputs
    kinds = [
        (is_book(), BOOKS, book_fields(generation)),
        *[
            (is_of(pipeline, number), view, row_fields(view))
            for number, view in enumerate(pipeline.writes)
        ],
    ]
    return running.select(
        choose([(told, F.lit(outputs[view.name])) for told, view, _ in kinds]).alias("topic"),
        choose([(told, key(view, row)) for told, view, row in kinds]).alias("key"),
        choose([(told, value(view, row)) for told, view, row in kinds]).alias("value"),
    )


def row_fields(view: Contract) -> dict[str, Column]:
    return {field.name: F.col(field.name) for field in view.fields}


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


def key(contract: Contract, fields: Mapping[str, Column]) -> Column:
    return F.concat_ws("/", *[key_text(contract, name, fields[name]) for name in contract.key])


def key_text(contract: Contract, name: str, field: Column) -> Column:
    """A key field as the record's key spells it; see contracts/codec.py."""
    if name in contract.times:
        field = F.unix_millis(field)
    return field.cast("string")


def value(contract: Contract, fields: Mapping[str, Column]) -> Column:
    struct = F.struct(*[fields[field.name].alias(field.name) for field in contract.fields])
    body = to_avro(struct, json.dumps(avro_schema(contract)))
    return F.concat(F.lit(frame(schema_id(contract))), body)
