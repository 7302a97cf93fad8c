"""Whether records can be read at all: by Avro's own rules, in its own library."""

import json
from functools import lru_cache
from typing import Any

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import Schema, parse

from contracts.mapping import build_avro_projection
from contracts.projection import Path, project_fields
from contracts.shape import Contract

SCHEMAS_MAX = 4_096


def explain_unreadable(reader: dict[str, Any], writer: dict[str, Any]) -> str | None:
    """Why records of one schema cannot be read with the other; None: they can."""
    found = ReaderWriterCompatibilityChecker().get_compatibility(
        _parse_schema(reader), _parse_schema(writer)
    )
    if found.compatibility is SchemaCompatibilityType.compatible:
        return None
    return "Avro: " + "; ".join(sorted(found.messages) or ["it cannot be read"])


def explain_unreadable_field(reader: Contract, path: Path, writer: Contract) -> str | None:
    """Why a reader who knows this one field of a contract cannot read another's records."""
    of_field = build_avro_projection(reader, project_fields(reader.fields, [path]))
    return explain_unreadable(of_field, build_avro_projection(writer, writer.fields))


def _parse_schema(schema: dict[str, Any]) -> Schema:
    return _parse(json.dumps(schema, sort_keys=True))


@lru_cache(maxsize=SCHEMAS_MAX)
def _parse(text: str) -> Schema:
    return parse(text)
