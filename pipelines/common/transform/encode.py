"""From rows to Kafka records."""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from contracts import BOOKS, Contract, build_avro_schema, get_schema_id
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.accounting import is_accounting
from pipelines.common.transform.aggregate import is_of
from pipelines.common.transform.columns import choose


def encode_changelog(
    pipeline: Pipeline, generation: int, outputs: Mapping[str, str], rows: DataFrame
) -> DataFrame:
    """The rows as records: `topic`, `key`, `value`. A second write of one changes nothing.

    `generation`: its number. `outputs`: view name → its topic.
    """
    kinds = [
        (is_accounting(), BOOKS, accounting.build_fields(pipeline.name, generation)),
        *[
            (
                is_of(pipeline, number),
                view,
                {field.name: F.col(field.name) for field in view.fields},
            )
            for number, view in enumerate(pipeline.writes)
        ],
    ]
    return rows.select(
        choose([(is_kind, F.lit(outputs[view.name])) for is_kind, view, _ in kinds]).alias("topic"),
        choose([(is_kind, encode_key(view, row)) for is_kind, view, row in kinds]).alias("key"),
        choose([(is_kind, encode_value(view, row)) for is_kind, view, row in kinds]).alias("value"),
    )


def encode_key(contract: Contract, fields: Mapping[str, Column]) -> Column:
    """The record's key as text; see contracts/codec.py."""
    parts = [
        F.unix_millis(fields[name]) if name in contract.times else fields[name]
        for name in contract.key
    ]
    return F.concat_ws("/", *[part.cast("string") for part in parts])


def encode_value(contract: Contract, fields: Mapping[str, Column]) -> Column:
    struct = F.struct(*[fields[field.name].alias(field.name) for field in contract.fields])
    body = to_avro(struct, json.dumps(build_avro_schema(contract)))
    frame = bytearray(b"\0" + get_schema_id(contract).to_bytes(4, "big"))  # of Confluent
    return F.concat(F.lit(frame), body)
