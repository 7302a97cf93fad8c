"""From a record's bytes to its contract's fields."""

import json
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from contracts import Contract, avro_schema, schemas_of

FRAME_BYTES = 5  # magic byte and schema id

EVENT = "event"


def decode(records: DataFrame, contract: Contract) -> DataFrame:
    """The records with one more column, `event`: a struct of the contract's fields.

    It is null where the frame names no known schema, and its required fields are null where the
    body does not decode: `judge` tells both from a good record.
    """
    return records.withColumn(EVENT, event(contract))


def event(contract: Contract) -> Column:
    """The decoded value. `from_avro` knows one writer schema, so the frame's id chooses it."""
    branches = [
        (F.col("value").substr(1, FRAME_BYTES) == F.lit(frame(schema_id)), body(contract, writer))
        for schema_id, writer in schemas_of(contract).items()
    ]
    (first, value), *others = branches
    return reduce(lambda chosen, branch: chosen.when(*branch), others, F.when(first, value))


def body(contract: Contract, writer: dict[str, object]) -> Column:
    return from_avro(
        F.expr(f"substring(value, {FRAME_BYTES + 1})"),
        json.dumps(writer),
        {"mode": "PERMISSIVE", "avroSchema": json.dumps(avro_schema(contract))},
    )


def frame(schema_id: int) -> bytearray:
    """The first bytes of a value in the Confluent frame."""
    return bytearray(b"\0" + schema_id.to_bytes(4, "big"))
