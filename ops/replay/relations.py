"""Renders answers of a view as relations of DuckDB."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from contracts import Contract
from contracts.shape import Field

# Timestamps have no zone, as the engine has no default zone: all are UTC.
TYPES: Mapping[str, str] = {
    "string": "VARCHAR",
    "int": "BIGINT",
    "long": "BIGINT",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}


def render_json_lines(contract: Contract, file: Path) -> str:
    """The relation of rows in the API's JSON lines."""
    columns = ", ".join(f"'{one.name}': '{get_sql_type(one)}'" for one in contract.fields)
    return f"read_json('{quote(file)}', format = 'newline_delimited', columns = {{{columns}}})"


def render_parquet(folder: Path) -> str:
    """The relation of rows in Spark's Parquet files."""
    return f"read_parquet('{quote(folder)}/*.parquet')"


def quote(path: Path) -> str:
    return str(path).replace("'", "''")


def get_sql_type(one: Field) -> str:
    """The engine's type of a field. Raises KeyError for a type that no view has yet."""
    if one.fields:
        return f"{render_struct(one.fields)}[]"
    return TYPES[one.type]


def render_struct(fields: Sequence[Field]) -> str:
    members = ", ".join(f'"{one.name}" {get_sql_type(one)}' for one in fields)
    return f"STRUCT({members})"
