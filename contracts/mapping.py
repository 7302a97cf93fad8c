"""The types of a contract's fields in Avro, in Spark and in SQL: the only mapping.

contracts/models.py has Python's side of the same table.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any

import pydantic

from contracts.shape import Contract, Field


@dataclass(frozen=True, slots=True)
class Type:
    """A type that a field may have: in the standard, in Avro, in Spark and in Python."""

    logical: str
    physical: str | None
    avro: str | Mapping[str, str]
    spark: str
    value: type
    """The type of a value in Python."""
    python: Any
    """How pydantic checks it."""


def _create_integer(bits: int) -> Any:
    limit = 2 ** (bits - 1)
    return Annotated[int, pydantic.Field(ge=-limit, le=limit - 1)]


def _truncate_to_milliseconds(time: datetime) -> datetime:
    if time.microsecond % 1000:
        raise ValueError(f"expected whole milliseconds, found {time.isoformat()}")
    return time


_BYTES = Annotated[
    bytes,
    pydantic.PlainSerializer(lambda value: b64encode(value).decode(), when_used="json"),
    pydantic.WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
]

TIMESTAMP_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}

# Closed: a type that is not here is an error when the contract is loaded.
TYPES: Mapping[str, Type] = {
    "string": Type("string", None, "string", "STRING", str, str),
    "bytes": Type("string", "bytes", "bytes", "BINARY", bytes, _BYTES),
    "int": Type("integer", "int", "int", "INT", int, _create_integer(32)),
    "long": Type("integer", "long", "long", "BIGINT", int, _create_integer(64)),
    "boolean": Type("boolean", None, "boolean", "BOOLEAN", bool, bool),
    "timestamp": Type(
        "timestamp",
        None,
        TIMESTAMP_MILLIS,
        "TIMESTAMP",
        datetime,
        Annotated[pydantic.AwareDatetime, pydantic.AfterValidator(_truncate_to_milliseconds)],
    ),
    "array": Type("array", None, "array", "ARRAY", list, list),  # of objects, and of nothing else
}


@cache
def build_avro_schema(contract: Contract) -> dict[str, Any]:
    """The schema of the contract's values on the wire.

    It has no descriptions: another wording must not make another schema.
    """
    return build_avro_projection(contract, contract.fields)


def build_avro_projection(contract: Contract, fields: tuple[Field, ...]) -> dict[str, Any]:
    """The schema of a reader that knows these fields of the contract and no others."""
    entity = contract.entity.replace("-", "_")
    namespace = f"retail.{contract.domain.replace('-', '_')}.{entity}.v{contract.major}"
    return {"namespace": namespace} | _build_record(contract.entity, fields)


def _build_record(name: str, fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "record",
        "name": to_camel(name),
        "fields": [_build_avro_field(f) for f in fields],
    }


def _build_avro_field(field: Field) -> dict[str, Any]:
    if field.required:
        return {"name": field.name, "type": _build_avro_type(field)}
    return {"name": field.name, "type": ["null", _build_avro_type(field)], "default": None}


def _build_avro_type(field: Field) -> Any:
    if field.item:
        return {"type": "array", "items": _build_record(field.item, field.fields)}
    avro = TYPES[field.type].avro
    return avro if isinstance(avro, str) else dict(avro)


@cache
def render_spark_ddl(contract: Contract) -> str:
    """The columns of the contract's values in Spark.

    All are nullable: Spark makes null of a value that it cannot decode, and the rules must see it.
    """
    return ", ".join(f"{field.name} {_render_spark_type(field)}" for field in contract.fields)


def _render_spark_type(field: Field) -> str:
    if field.item:
        columns = ", ".join(f"{inner.name}: {_render_spark_type(inner)}" for inner in field.fields)
        return f"ARRAY<STRUCT<{columns}>>"
    return TYPES[field.type].spark


def to_camel(name: str) -> str:
    """stock-level → StockLevel"""
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))
