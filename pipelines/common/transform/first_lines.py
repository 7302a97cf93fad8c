"""The first line of each key in an event: the number of first lines is the number of events.

In an event with few lines Spark compares each line with the others. It sorts the lines of a long
event: to compare each of 2,000 lines with all others takes a thousand times as long as to read
them.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

COMPARED_LINES_MAX = 32
"""The lines of an event with more lines are sorted by their keys."""


@dataclass(frozen=True)
class FirstLines:
    """The fields of a line that are the key, or a part of it, and two auxiliary columns.

    With them Spark needs no column with all lines of a long event beside each line.
    """

    names: tuple[str, ...]
    number: int = 0
    """A number that makes the names of the columns unique per key."""

    @property
    def compared(self) -> str:
        """The column with the keys of `lines`; null for a long event."""
        return f"_compared_{self.number}"

    @property
    def previous(self) -> str:
        """The column with, for each of `lines`, the key of the line before it when they are sorted
        by key and then by place, or null; empty for an event of few lines.
        """
        return f"_previous_{self.number}"

    def prepare(self, events: DataFrame) -> DataFrame:
        """The events with both columns."""
        count = F.size("lines")
        is_long = count > COMPARED_LINES_MAX
        place = F.sequence(F.lit(0), count - 1).alias("place")
        keys = [F.col(f"lines.{name}").alias(name) for name in self.names]
        ordered = F.when(is_long, F.sort_array(F.arrays_zip(*keys, place)))
        before = F.concat(F.array(F.lit(None)), F.slice(self._keys("_ordered"), 1, count - 1))
        placed = F.arrays_zip(F.col("_ordered.place").alias("place"), before.alias("before"))
        own = self._keys("lines")
        previous = F.when(is_long, F.sort_array(placed)["before"]).otherwise(F.slice(own, 1, 0))
        return (
            events.withColumn("_ordered", ordered)
            .withColumn(self.compared, F.when(~is_long, own))
            .withColumn(self.previous, previous)
            .drop("_ordered")
        )

    def is_first(self, place: str, line: str, previous: str) -> Column:
        """Whether no earlier line of the event has the same key.

        The arguments are the columns with the line's place, the line, and its item of `previous`.
        """
        fields = [F.col(f"{line}.{name}").alias(name) for name in self.names]
        key = fields[0] if len(fields) == 1 else F.struct(*fields)
        compared = F.col(place) == F.array_position(F.col(self.compared), key) - 1
        looked_up = ~F.col(previous).eqNullSafe(key)
        return F.when(F.col(self.compared).isNotNull(), compared).otherwise(looked_up)

    def _keys(self, lines: str) -> Column:
        """An array with the key of each line."""
        fields = [F.col(f"{lines}.{name}").alias(name) for name in self.names]
        return fields[0] if len(fields) == 1 else F.arrays_zip(*fields)
