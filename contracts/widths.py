"""Numbers on the wire as Java reads them, and so Spark does: Python would read more.

Avro's varints can hold more bits than the type has. All readers must be of one mind.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from contracts.checks import values
from contracts.errors import Undecodable
from contracts.shape import Contract, Field, Row

INT_END = 2**31
FIVE_BYTES_END = 2**35
"""Java reads an int from five bytes at the most, of seven bits each, and keeps 32 of them."""
MILLISECONDS_MAX = (2**63 - 1) // 1000
"""Spark counts a time in microseconds, in 64 bits."""


def as_java_reads(contract: Contract, event: dict[str, Any]) -> dict[str, Any]:
    """The event, its times in milliseconds, its numbers as wide as their types.

    Raises Undecodable where Java reads no number.
    """
    for found in _values_of(contract, "timestamp"):
        if not all(-MILLISECONDS_MAX <= value <= MILLISECONDS_MAX for value in found(event)):
            raise Undecodable(f"{found(event)}: a time of more than 64 bits of microseconds")
    for found in _values_of(contract, "int"):
        if not all(-INT_END <= value < INT_END for value in found(event)):
            return _narrow(contract.fields, event)
    return event


def _narrow(fields: Sequence[Field], row: Row) -> dict[str, Any]:
    return {field.name: _narrow_value(field, row[field.name]) for field in fields}


def _narrow_value(field: Field, value: Any) -> Any:
    if field.item and value is not None:
        return [_narrow(field.fields, item) for item in value]
    return _narrow_int(value) if field.type == "int" and value is not None else value


def _narrow_int(value: int) -> int:
    zigzag = value << 1 if value >= 0 else (-value << 1) - 1
    if zigzag >= FIVE_BYTES_END:
        raise Undecodable(f"{value}: expected an integer of 32 bits")
    kept = zigzag & (2 * INT_END - 1)
    return (kept >> 1) ^ -(kept & 1)


@cache
def _values_of(contract: Contract, kind: str) -> tuple[Callable[[Row], list[Any]], ...]:
    return tuple(values(path) for path in _paths(contract.fields, kind))


def _paths(fields: Sequence[Field], kind: str) -> Iterator[tuple[str, ...]]:
    for field in fields:
        if field.type == kind:
            yield (field.name,)
        yield from ((field.name, *path) for path in _paths(field.fields, kind))
