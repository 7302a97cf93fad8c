"""Sums of money, which may have no room in 64 bits: three receipts of the largest size are enough.

A sum is kept as two of 64 bits, of the high and of the low bits of each amount: aggregates of
numbers, which Spark updates in place. The row says the sum as far as 64 bits go, and lists in
SUMS_IN_FULL what has no room in them. Decimals are computed only for what is listed.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SUMS_IN_FULL = "sums_in_full"
"""The field of a contract in which a row lists them."""

LOW_BITS = 24
"""An amount is below 2^51 (the most units of a line, at the highest price). So the high bits of
2^36 lines can be added up, and the low bits of more."""

LOW_END = 2**LOW_BITS
HIGH_END = 2 ** (63 - LOW_BITS)
"""A sum has room in 64 bits if its high bits are below this, and not below its negative."""

LEAST, MOST = -(2**63), 2**63 - 1
LISTED = "array<struct<name: string, digits: string>>"


class Halves(NamedTuple):
    """A sum of whatever size: the high bits times LOW_END, and the low bits, from 0 to LOW_END."""

    high: Column
    low: Column

    @property
    def is_beyond(self) -> Column:
        """Whether 64 bits have no room for the sum."""
        return ~self.high.between(-HIGH_END, HIGH_END - 1)

    @property
    def nearest(self) -> Column:
        """The sum, or the number of 64 bits that is nearest to it."""
        added = F.shiftleft(self.high, LOW_BITS) + self.low
        outermost = F.when(self.high > 0, F.lit(MOST)).otherwise(F.lit(LEAST))
        return F.when(self.is_beyond, outermost).otherwise(added)

    @property
    def digits(self) -> Column:
        """The sum as a text, of whatever size it is."""
        high = self.high.cast("decimal(20, 0)") * F.lit(Decimal(LOW_END))
        return (high + self.low).cast("string")


def add_halves(amount: Column, add_up: Callable[[Column], Column]) -> Halves:
    """The sum of an amount; `add_up` makes a sum of a number."""
    return carry(add_up(take_high_bits(amount)), add_up(take_low_bits(amount)))


def carry(high: Column, low: Column) -> Halves:
    """The sum of amounts, from the sums of their high and of their low bits."""
    return Halves(high + take_high_bits(low), take_low_bits(low))


def take_high_bits(amount: Column) -> Column:
    return F.shiftright(amount, LOW_BITS)


def take_low_bits(amount: Column) -> Column:
    return amount.bitwiseAND(F.lit(LOW_END - 1).cast("long"))


def keep_halves(sums: Mapping[str, Halves]) -> dict[str, Column]:
    """The columns in which a frame keeps the sums, by name, until `join_halves`."""
    return {
        column: half
        for name, one in sums.items()
        for column, half in zip(_name_columns(name), one, strict=True)
    }


def join_halves(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The frame with a column for each sum that it keeps, its nearest number, and SUMS_IN_FULL."""
    if not names:
        return frame
    sums = {name: find_halves(name) for name in names}
    nearest = {name: one.nearest for name, one in sums.items()}
    return frame.withColumns({**nearest, SUMS_IN_FULL: list_sums_in_full(sums)})


def find_halves(name: str) -> Halves:
    """The sum of that name, of a frame that keeps it."""
    return Halves(*map(F.col, _name_columns(name)))


def _name_columns(name: str) -> tuple[str, str]:
    return f"_{name}_high", f"_{name}_low"


def list_sums_in_full(sums: Mapping[str, Halves]) -> Column:
    """Of the sums by field those that have no room in 64 bits, in this order; null: all have."""
    none = F.array().cast(LISTED)
    listed = F.concat(
        *[
            F.when(
                one.is_beyond,
                F.array(F.struct(F.lit(name).alias("name"), one.digits.alias("digits"))),
            ).otherwise(none)
            for name, one in sums.items()
        ]
    )
    any_is_beyond = reduce(or_, [one.is_beyond for one in sums.values()])
    return F.when(any_is_beyond, listed)
