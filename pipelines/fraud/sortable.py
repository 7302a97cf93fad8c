"""A signal as a text that sorts as the signal does, by its bytes.

To sort structs Spark assembles a comparator field by field; texts are compared as they are.
"""

from typing import get_args, get_type_hints

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipelines.fraud.rules import Signal

SEPARATOR = "/"
"""It sorts before every other character of the text: the parts are hexadecimal digits."""
DIGITS = 16
SIGN = -(2**63)
"""The sign bit of a 64-bit number, and the least of them."""
NUMBERS = {name for name, kind in get_type_hints(Signal).items() if int in (kind, *get_args(kind))}
"""The fields of a signal that are 64-bit numbers; the others are texts."""


def encode_signal(**fields: Column) -> Column:
    """The text of the signal whose other fields are columns of the same names."""
    columns = {name: fields.get(name, F.col(name)) for name in Signal._fields}
    parts = [
        encode_number(column) if name in NUMBERS else F.hex(column.cast("binary"))
        for name, column in columns.items()
    ]
    return F.concat_ws(SEPARATOR, *[F.coalesce(part, F.lit("")) for part in parts])


def encode_number(number: Column) -> Column:
    """The number as digits of a fixed length, in which negative numbers come first."""
    return F.lpad(F.hex(number.cast("long").bitwiseXOR(F.lit(SIGN))), DIGITS, "0")


def decode_signal(text: str) -> Signal:
    """The signal of a text. A field without digits is None: no text field of a signal is empty."""
    parts = zip(Signal._fields, text.split(SEPARATOR), strict=True)
    return Signal(*[decode_part(name, digits) for name, digits in parts])  # type: ignore[arg-type]


def decode_part(name: str, digits: str) -> int | str | None:
    if not digits:
        return None
    return int(digits, 16) + SIGN if name in NUMBERS else bytes.fromhex(digits).decode()
