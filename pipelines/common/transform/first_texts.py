"""The first texts of a group, in the space of those that it has."""

from pyspark.sql import Column
from pyspark.sql import functions as F

COLLECT_FIRST = "collect_first"
"""The name of the aggregate in SQL."""


def collect_first(text: Column, most: Column) -> Column:
    """The first `most` texts of a group in the order of their bytes, an array of string.

    Equal texts are kept each. A row whose text is null adds nothing. All other rows of a group have
    the same `most`, an int.

    It is the project's own aggregate (`CollectFirst.java`): Spark's collect_top_k
    takes the space of `most` texts for each group, however few it has.
    """
    return F.call_function(COLLECT_FIRST, most.cast("int"), text)
