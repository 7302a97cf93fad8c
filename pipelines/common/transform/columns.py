"""Columns that pipelines share: a choice, a line's amount, the project's own aggregates."""

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts.measures import UNITS_PER_MEASURE

HALF = UNITS_PER_MEASURE // 2


def compute_amount(units: Column, cents: Column, measure: Column) -> Column:
    """The cents of so many units, as a long; null where units or cents are.

    Nothing else in Spark multiplies units by a price.

    Without a measure the price is that of a unit. With a measure, units are thousandths of it, the
    price is that of a whole one, and half a cent is rounded up. Neither units nor price may be
    negative: a difference of prices is the difference of two amounts. The contracts bound the
    product of both to 2^51.
    """
    product = units.cast("long") * cents
    rounded = F.call_function("div", product + HALF, F.lit(UNITS_PER_MEASURE))
    return F.when(measure.isNull(), product).otherwise(rounded)


def choose(choices: Iterable[tuple[Column, Column | str]]) -> Column:
    """The value of the first true condition; null without one."""
    (condition, value), *others = choices
    return reduce(lambda chosen, choice: chosen.when(*choice), others, F.when(condition, value))


def escape_key_part(text: Column) -> Column:
    """The text as a part of a record's key, whose separator is a slash."""
    return F.replace(F.replace(text, F.lit("%"), F.lit("%25")), F.lit("/"), F.lit("%2F"))


def collect_first(text: Column, most: Column) -> Column:
    """The first `most` texts of a group in the order of their bytes, an array of string.

    Equal texts are kept each. A row whose text is null adds nothing. All other rows of a group have
    the same `most`, an int.

    It is the project's own aggregate (`CollectFirst.java`): Spark's collect_top_k
    takes the space of `most` texts for each group, however few it has.
    """
    return F.call_function("collect_first", most.cast("int"), text)


def sum_by_slot(
    slot: Column, time: Column, member: Column, members_max: int, amounts: Sequence[Column]
) -> Column:
    """What a group's rows add up to in each slot, an array in the order of the slots.

    Its structs have: `slot` (int), `first` and `last`, the least and the largest `time` (long),
    `members`, the distinct members (array of string), and `sums`, of each amount (array of long).
    Of more members than `members_max` it keeps the first ones in the order of their bytes. A row
    whose slot is null adds nothing; the other arguments of a row with a slot are not null.

    It is the project's own aggregate (`SumBySlot.java`): Spark has none for maps, and
    to collect the rows would take as much state as there are rows.
    """
    return F.call_function(
        "sum_by_slot",
        F.lit(members_max),
        slot.cast("int"),
        time.cast("long"),
        member.cast("string"),
        *[amount.cast("long") for amount in amounts],
    )
