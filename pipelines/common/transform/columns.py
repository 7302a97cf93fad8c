"""Columns that pipelines share: a choice, a line's amount, the project's own aggregates."""

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts.measures import MEASURES, UNITS_PER_MEASURE
from pipelines.common.arithmetic import Arithmetic

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


def sum_units(of: Column) -> Column:
    """The sum in a group; 0 without any."""
    return F.coalesce(F.sum(of), F.lit(0))


def begin_of(length_ms: int) -> Column:
    """The beginning of the interval of that length in which a line was published, in ms."""
    published = F.unix_millis("published")
    return published - F.pmod(published, F.lit(length_ms))


def number_measure(measure: Column) -> Column:
    """The number of a measure, from one on; zero: sold by the piece. Spark aggregates only numbers
    in place.
    """
    numbers = choose((measure == name, F.lit(number)) for number, name in enumerate(MEASURES, 1))
    return F.coalesce(numbers, F.lit(0)).cast("long")


def name_measure(number: Column) -> Column:
    """The measure of that number; null for zero."""
    return choose((number == each, F.lit(name)) for each, name in enumerate(MEASURES, 1))


def to_columns(*numbers: Column | float) -> list[Column]:
    return [number if isinstance(number, Column) else F.lit(number) for number in numbers]


COLUMNS = Arithmetic(
    F.sqrt,
    F.ceil,
    F.floor,
    largest=lambda *numbers: F.greatest(*to_columns(*numbers)),
    smallest=lambda *numbers: F.least(*to_columns(*numbers)),
    divided=lambda number, by: F.call_function("div", *to_columns(number, by)),
    pick=lambda values, number: F.get(F.array(*to_columns(*values)), *to_columns(number)),
)
