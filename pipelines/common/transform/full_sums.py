"""Sums of money, which may exceed 64 bits: three receipts of the largest size are enough.

The state has two sums of 64 bits, of the high and of the low bits of each amount: aggregates of
numbers, which Spark updates in place. A row has the sum clipped to 64 bits, and in SUMS_IN_FULL the
sums that exceed them. Only for these Spark computes decimals.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SUMS_IN_FULL = "sums_in_full"
"""The field of a contract with the sums that exceed 64 bits."""

LOW_BITS = 24
"""An amount is below 2^51 (the most units of a line, at the highest price). So the high bits of
2^36 lines can be added up, and the low bits of more."""

LOW_END = 2**LOW_BITS
HIGH_END = 2 ** (63 - LOW_BITS)
"""A sum fits in 64 bits if its high bits are below this, and not below its negative."""

LEAST, MOST = -(2**63), 2**63 - 1
LISTED = "array<struct<name: string, digits: string>>"


class Halves(NamedTuple):
    """A sum of any size: the high bits times LOW_END, plus the low bits, from 0 to LOW_END."""

    high: Column
    low: Column

    @property
    def is_beyond(self) -> Column:
        """Whether the sum exceeds 64 bits."""
        return ~self.high.between(-HIGH_END, HIGH_END - 1)

    @property
    def nearest(self) -> Column:
        """The sum, or the nearest number of 64 bits."""
        added = F.shiftleft(self.high, LOW_BITS) + self.low
        outermost = F.when(self.high > 0, F.lit(MOST)).otherwise(F.lit(LEAST))
        return F.when(self.is_beyond, outermost).otherwise(added)

    @property
    def digits(self) -> Column:
        """The sum as text, of any size."""
        high = self.high.cast("decimal(20, 0)") * F.lit(Decimal(LOW_END))
        return (high + self.low).cast("string")


def add_halves(amount: Column, aggregate: Callable[[Column], Column]) -> Halves:
    """The sum of an amount; `aggregate` makes a sum of a number."""
    return carry(aggregate(take_high_bits(amount)), aggregate(take_low_bits(amount)))


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
        for name, halves in sums.items()
        for column, half in zip(_name_columns(name), halves, strict=True)
    }


def join_halves(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The frame with a column for each sum that it keeps, its nearest number, and SUMS_IN_FULL."""
    if not names:
        return frame
    sums = {name: find_halves(name) for name in names}
    nearest = {name: halves.nearest for name, halves in sums.items()}
    return frame.withColumns({**nearest, SUMS_IN_FULL: list_sums_in_full(sums)})


def find_halves(name: str) -> Halves:
    """The sum with this name, of a frame that keeps it."""
    return Halves(*map(F.col, _name_columns(name)))


def _name_columns(name: str) -> tuple[str, str]:
    return f"_{name}_high", f"_{name}_low"


def list_sums_in_full(sums: Mapping[str, Halves]) -> Column:
    """The sums, by field, that exceed 64 bits, in this order; null: none does."""
    none = F.array().cast(LISTED)
    listed = F.concat(
        *[
            F.when(
                halves.is_beyond,
                F.array(F.struct(F.lit(name).alias("name"), halves.digits.alias("digits"))),
            ).otherwise(none)
            for name, halves in sums.items()
        ]
    )
    any_is_beyond = reduce(or_, [halves.is_beyond for halves in sums.values()])
    return F.when(any_is_beyond, listed)
