"""Whether a reader can decode records at all, by the rules of Avro's own library."""

import json
from functools import lru_cache

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import Schema, parse

from contracts.mapping import build_avro_projection, build_avro_schema
from contracts.projection import Path, project_fields
from contracts.shape import Contract

SCHEMAS_MAX = 4_096
PAIRS_MAX = 16_384
"""Of readers and writers: one check of this repository compares some 2,100."""


@lru_cache(maxsize=PAIRS_MAX)
def _explain(reader: str, writer: str) -> str | None:
    result = ReaderWriterCompatibilityChecker().get_compatibility(_parse(reader), _parse(writer))
    if result.compatibility is SchemaCompatibilityType.compatible:
        return None
    return "Avro: " + "; ".join(sorted(result.messages) or ["it cannot be read"])


def explain_unreadable_field(reader: Contract, path: Path, writer: Contract) -> str | None:
    """Why a reader of this one field cannot read the writer's records; None where it can."""
    of_field = build_avro_projection(reader, project_fields(reader.fields, [path]))
    schemas = of_field, build_avro_schema(writer)
    return _explain(*(json.dumps(schema, sort_keys=True) for schema in schemas))


@lru_cache(maxsize=SCHEMAS_MAX)
def _parse(text: str) -> Schema:
    return parse(text)
