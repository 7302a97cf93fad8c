"""The types of a contract's fields in Arrow: of exports, and of the lake's tables of views.

pyarrow takes half a second to import, for what few ask for: it is imported by the first.
"""

from typing import TYPE_CHECKING, Any

from contracts.shape import Contract, Field

if TYPE_CHECKING:
    import pyarrow as pa


def build_arrow_schema(contract: Contract) -> "pa.Schema":
    """A column for each field; times are milliseconds in UTC."""
    import pyarrow as pa

    return pa.schema([_build_column(field) for field in contract.fields])


def _build_column(field: Field) -> "pa.Field[Any]":
    import pyarrow as pa

    types: dict[str, pa.DataType] = {
        "string": pa.string(),
        "bytes": pa.string(),  # base64, as in JSON
        "int": pa.int32(),
        "long": pa.int64(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("ms", "UTC"),
    }
    if field.type == "array":
        return pa.field(field.name, pa.list_(pa.struct([*map(_build_column, field.fields)])))
    return pa.field(field.name, types[field.type])
