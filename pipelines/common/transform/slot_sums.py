"""Sums by slot: a group's rows in the space of its slots, which state keeps and merges."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

SUM_BY_SLOT = "sum_by_slot"
"""The name of the aggregate in SQL."""


def sum_by_slot(
    slot: Column, at: Column, member: Column, members_max: int, amounts: Sequence[Column]
) -> Column:
    """What a group's rows add up to in each slot, an array in the order of the slots.

    Its structs have: `slot` (int), `first` and `last`, the least and the largest `at` (long),
    `members`, the distinct members (array of string), and `sums`, of each amount (array of long).
    Of more members than `members_max` it keeps the first ones in the order of their bytes. A row
    whose slot is null adds nothing; the other arguments of a row with a slot are not null.

    It is the project's own aggregate (`SumBySlot.java`): Spark has none for maps, and
    to collect the rows would take as much state as there are rows.
    """
    return F.call_function(
        SUM_BY_SLOT,
        F.lit(members_max),
        slot.cast("int"),
        at.cast("long"),
        member.cast("string"),
        *[amount.cast("long") for amount in amounts],
    )
