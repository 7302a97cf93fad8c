"""Arithmetic of policies, on plain numbers and on Spark's columns alike."""

import math
from collections.abc import Callable, Sequence
from operator import floordiv, getitem
from typing import Any, NamedTuple


class Arithmetic(NamedTuple):
    """The operations that differ between numbers and columns."""

    sqrt: Callable[[Any], Any] = math.sqrt
    ceil: Callable[[Any], Any] = math.ceil
    floor: Callable[[Any], Any] = math.floor
    largest: Callable[..., Any] = max
    smallest: Callable[..., Any] = min
    divided: Callable[[Any, Any], Any] = floordiv
    pick: Callable[[Any, Any], Any] = getitem
    keep: Callable[[Sequence[Any]], Sequence[Any]] = tuple
    """Values that are used several times; a column is an expression, computed where it stands."""


NUMBERS = Arithmetic()
"""On plain numbers."""
