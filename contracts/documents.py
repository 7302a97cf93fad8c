"""A contract's values as JSON documents: timestamps in ISO 8601, other values unchanged."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from contracts.shape import Contract, Field, Row
from contracts.times import to_text


def from_document(contract: Contract, document: Any) -> Any:
    """The document with its timestamps as datetimes, as `build_model` takes them.

    A value in another form stays as it is; the model then names the fault.
    """
    return _parse_record(contract.fields, document)


def _parse_record(fields: Sequence[Field], document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    by_name = {field.name: field for field in fields}
    return {
        name: _parse_value(by_name[name], value) if name in by_name else value
        for name, value in document.items()
    }


def _parse_value(field: Field, document: Any) -> Any:
    if field.type == "timestamp" and isinstance(document, str):
        try:
            return datetime.fromisoformat(document)
        except ValueError:
            return document
    if field.fields and isinstance(document, list):
        return [_parse_record(field.fields, item) for item in document]
    return document


def to_document(contract: Contract, value: Row) -> dict[str, Any]:
    """The value as JSON; absent fields are left out."""
    return _render_fields(contract.fields, value)


def _render_fields(fields: Sequence[Field], value: Row) -> dict[str, Any]:
    return {
        field.name: _render_value(field, present)
        for field in fields
        if (present := value.get(field.name)) is not None
    }


def _render_value(field: Field, present: Any) -> Any:
    if isinstance(present, datetime):
        return to_text(present)
    if field.fields:
        return [_render_fields(field.fields, item) for item in present]
    return present
