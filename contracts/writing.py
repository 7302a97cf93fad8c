"""Writing Avro: per contract, one function from a value to its bytes.

It is made for volume: it fetches a value's fields at once, and encodes a repeated part, such as a
sku or a whole line, only once. Its bytes equal those of any other Avro writer.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import call, index, itemgetter
from typing import Any

from contracts.shape import Field, Row
from contracts.times import EPOCH, MILLISECOND

ENTRIES_MAX = 16_384  # of one field, or of one kind of line
ENTRY_BYTES_MAX = 128
LAST_BLOCK = b"\0"

Write = Callable[[Any], bytes]


def compile_record(fields: Sequence[Field]) -> Write:
    """A function that encodes a record of these fields.

    It raises KeyError, TypeError, ValueError, AttributeError or OverflowError where a field is
    absent or unknown, or a value is not of its type.
    """
    values, join = _compile_values(fields), _compile_sequence(fields)
    return lambda row: join(values(row))


def _compile_values(fields: Sequence[Field]) -> Callable[[Row], Sequence[Any]]:
    """A function that takes the values out of a record, in the order of the fields."""
    fetch = _fetch(fields)
    optional = {field.name: None for field in fields if not field.required}
    count = len(fields)

    def values(row: Row) -> Sequence[Any]:
        if len(row) != count:
            row = {**optional, **row}
            if len(row) != count:
                raise KeyError(f"{count} fields expected, found {', '.join(row)}")
        return fetch(row)

    return values


def _fetch(fields: Sequence[Field]) -> Callable[[Row], Sequence[Any]]:
    names = [field.name for field in fields]
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)


def _compile_sequence(fields: Sequence[Field]) -> Write:
    """A function that encodes the values of a record."""
    writers = [_compile_field(field) for field in fields]
    return lambda values: b"".join(map(call, writers, values))


def _compile_field(field: Field) -> Write:
    write = _compile_array(field.fields) if field.item else WRITERS[field.type]()
    return write if field.required else _compile_optional(write)


def _compile_optional(write: Write) -> Write:
    return lambda value: b"\0" if value is None else b"\2" + write(value)


def _compile_array(fields: Sequence[Field]) -> Write:
    """A function that encodes an array of records; it finds a repeated one in a cache."""
    values, fetch, join = _compile_values(fields), _fetch(fields), _compile_sequence(fields)
    write = join if any(field.item for field in fields) else Known(join).__getitem__
    as_agreed = {len(fields)}

    def array(rows: Sequence[Row]) -> bytes:
        if len(rows) == 0:
            return LAST_BLOCK
        take = fetch if set(map(len, rows)) == as_agreed else values
        return b"".join((_encode_number(len(rows)), *map(write, map(take, rows)), LAST_BLOCK))

    return array


class Known(dict[Any, bytes]):
    """A cache of short encoded values. It is emptied when it is full."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def __missing__(self, value: Any) -> bytes:
        written = self._write(value)
        if len(written) <= ENTRY_BYTES_MAX:
            if len(self) >= ENTRIES_MAX:
                self.clear()
            self[value] = written
        return written


def _encode_number(value: int) -> bytes:
    """Zigzag, so that small negative numbers are short too."""
    return _encode_bits(value << 1 if value >= 0 else (-value << 1) - 1)


def _encode_bits(left: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    written = bytearray()
    while left > 0x7F:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    written.append(left)
    return bytes(written)


def _create_integer(bits: int) -> Write:
    limit = 1 << (bits - 1)

    def integer(value: int) -> bytes:
        if not -limit <= index(value) < limit:
            raise OverflowError(f"{value} has more than {bits} bits")
        return _encode_number(value)

    return integer


LONG = _create_integer(64)


SHORT = tuple(_encode_number(length) for length in range(64))
"""The lengths of most texts, encoded."""
SECONDS = Known(_encode_bits)
"""The upper bytes of a time, which stay the same for some seconds."""


def _encode_timestamp(value: int | datetime) -> bytes:
    if isinstance(value, datetime):
        value = (value - EPOCH) // MILLISECOND
    if not 1 << 13 <= value < 1 << 63:
        return LONG(value)
    # The last fourteen bits without a cache: times rarely repeat.
    zigzag = value << 1
    lower = bytes((zigzag & 0x7F | 0x80, zigzag >> 7 & 0x7F | 0x80))
    return lower + SECONDS[zigzag >> 14]


def _write_string(value: str) -> bytes:
    text = value.encode()
    length = len(text)
    return (SHORT[length] if length < len(SHORT) else _encode_number(length)) + text


def _encode_bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"{value!r} is no bytes")
    return _encode_number(len(value)) + value


# By type of contracts/mapping.py: how to make the writer of one field. Arrays hold records.
# Each field has a cache of its own, so that ids, which never repeat, do not displace other values.
WRITERS: Mapping[str, Callable[[], Write]] = {
    "string": lambda: Known(_write_string).__getitem__,
    "bytes": lambda: _encode_bytes,
    "int": lambda: Known(_create_integer(32)).__getitem__,
    "long": lambda: Known(LONG).__getitem__,
    "boolean": lambda: {False: b"\0", True: b"\1"}.__getitem__,
    "timestamp": lambda: _encode_timestamp,
}
