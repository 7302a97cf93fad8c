"""A choice between values, by the first condition that holds."""

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F


def choose(choices: Iterable[tuple[Column, Column | str]]) -> Column:
    """The value of the first true condition; null without one."""
    (condition, value), *others = choices
    return reduce(lambda chosen, choice: chosen.when(*choice), others, F.when(condition, value))
