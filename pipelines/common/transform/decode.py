"""From a record's bytes to its contract's fields."""

import json
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from contracts import Contract, build_avro_schema, find_schemas
from pipelines.common.transform.choose import choose

FRAME_BYTES = 5  # magic byte and schema id


def decode_event(contract: Contract, value: Column) -> Column:
    """The event in a value: a struct of the contract's fields.

    It is null if the frame names no schema of the contract. Its required fields are null if the
    body does not decode. Validation recognizes both. Integers are longs, so that validation sees
    one that is too large. `from_avro` takes one writer schema, so the frame's id chooses the call.
    """
    branches = [
        (
            value.substr(1, FRAME_BYTES) == F.lit(build_frame(schema_id)),
            decode_body(contract, value, writer),
        )
        for schema_id, writer in find_schemas(contract).items()
    ]
    return choose(branches)


def decode_body(contract: Contract, value: Column, writer: dict[str, object]) -> Column:
    return from_avro(
        F.substring(value, FRAME_BYTES + 1, 2**31 - 1),
        json.dumps(widen(writer)),
        {"mode": "PERMISSIVE", "avroSchema": json.dumps(widen(build_avro_schema(contract)))},
    )


def widen(schema: Any) -> Any:
    """The schema with its integers as longs, which have the same bytes.

    Spark would silently cut an integer of more than 32 bits.
    """
    if isinstance(schema, list):
        return [widen(one) for one in schema]
    if isinstance(schema, dict):
        return {name: widen(one) for name, one in schema.items()}
    return "long" if schema == "int" else schema


def build_frame(schema_id: int) -> bytearray:
    """The first bytes of a value in the Confluent frame."""
    return bytearray(b"\0" + schema_id.to_bytes(4, "big"))
