"""The digest of a view: equal for two views if, and only if, their rows are equal."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from contracts.codec import encode_key
from contracts.shape import Contract, Field, Row
from contracts.times import EPOCH, MILLISECOND


def compute_digest(contract: Contract, rows: Iterable[Row]) -> str:
    """SHA-256, in hex, over the contract's fields as canonical JSON: one sorted line per key.

    Timestamps are integer milliseconds of 1970, bytes are base64. Raises ValueError where two rows
    have one key.
    """
    lines: dict[bytes, bytes] = {}
    for row in rows:
        identity = encode_key(contract, row)
        if identity in lines:
            raise ValueError(
                f"{contract.name}: expected one row per key, found two of {identity.decode()}. "
                "Keep the newest version of each"
            )
        values = _select_object(contract.fields, row)
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        lines[identity] = line.encode() + b"\n"
    sha = hashlib.sha256()
    for encoded in sorted(lines.values()):
        sha.update(encoded)
    return sha.hexdigest()


def _select_object(fields: tuple[Field, ...], row: Row) -> dict[str, Any]:
    return {field.name: _select_value(field, row) for field in fields}


def _select_value(field: Field, row: Row) -> Any:
    value = row[field.name] if field.required else row.get(field.name)
    if isinstance(value, datetime):
        return (value - EPOCH) // MILLISECOND
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if field.item and value is not None:
        return [_select_object(field.fields, item) for item in value]
    return value
