"""What a line comes to: the one place in Spark that multiplies units by a price."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts.measures import UNITS_PER_MEASURE

HALF = UNITS_PER_MEASURE // 2


def compute_amount(units: Column, cents: Column, measure: Column) -> Column:
    """The cents of so many units, as a long; null where units or cents are.

    Without a measure the price is that of a unit. With a measure, units are thousandths of it, the
    price is that of a whole one, and half a cent is rounded up. Neither units nor price may be
    negative: a difference of prices is the difference of two amounts. The contracts bound the
    product of both to 2^51.
    """
    product = units.cast("long") * cents
    rounded = F.call_function("div", product + HALF, F.lit(UNITS_PER_MEASURE))
    return F.when(measure.isNull(), product).otherwise(rounded)
