"""A contract's values as JSON documents spell them: timestamps in ISO 8601, all else as it is."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from contracts.shape import Contract, Field


def from_document(contract: Contract, document: Any) -> Any:
    """The document with its timestamps as such, so that model(contract) can be asked about it.

    What is not spelled as the contract says stays as it is, for the model to name.
    """
    return _record(contract.fields, document)


def _record(fields: Sequence[Field], found: Any) -> Any:
    if not isinstance(found, Mapping):
        return found
    by_name = {field.name: field for field in fields}
    return {
        name: _value(by_name[name], value) if name in by_name else value
        for name, value in found.items()
    }


def _value(field: Field, found: Any) -> Any:
    if field.type == "timestamp" and isinstance(found, str):
        try:
            return datetime.fromisoformat(found)
        except ValueError:
            return found
    if field.fields and isinstance(found, list):
        return [_record(field.fields, item) for item in found]
    return found
