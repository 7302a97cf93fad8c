"""An event as the world holds it, and the record that it becomes."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from contracts.partitions import choose_partition

# Values by field name, as in the contract; times are milliseconds since 1970.
Event = dict[str, Any]


class Dirt(IntEnum):
    """The ways in which the world spoils a record."""

    NONE = 0
    LATE = 1  # published long after it happened, within the horizon
    BEYOND_HORIZON = 2  # published too late to be applied
    DUPLICATE = 3  # the same event once more
    FUTURE = 4  # its event time is in the future: a clock is ahead
    MALFORMED = 5  # cut short, or noise
    UNKNOWN_SCHEMA = 6  # names an unknown schema
    BROKEN_RULE = 7  # breaks a rule of its contract


# Published instead of the good event; such a record does not tell which units moved.
UNREADABLE = frozenset({Dirt.MALFORMED, Dirt.UNKNOWN_SCHEMA, Dirt.BROKEN_RULE})

Counts = dict[str, list[int]]  # by topic and partition


class Publication(NamedTuple):
    """A record with its place in the log. A world's publications are numbered without a gap."""

    published_ms: int
    topic: str
    partition: int
    sequence: int  # of the world's records in this partition, from zero
    key: str
    event: Event
    dirt: Dirt = Dirt.NONE


class Numbering:
    def __init__(self, widths: Mapping[str, int]) -> None:
        """`widths`: the number of partitions of each topic."""
        self.counts: Counts = {topic: [0] * width for topic, width in widths.items()}

    def number(
        self, published_ms: int, topic: str, key: str, event: Event, dirt: Dirt = Dirt.NONE
    ) -> Publication:
        """The event as the next publication in its key's partition."""
        place = self._place(topic, key)
        counts = self.counts[topic]
        sequence = counts[place]
        counts[place] = sequence + 1
        return Publication(published_ms, topic, place, sequence, key, event, dirt)

    def count_records(self, topic: str, key: str) -> int:
        """The number of records so far in the key's partition."""
        return self.counts[topic][self._place(topic, key)]

    def _place(self, topic: str, key: str) -> int:
        return choose_partition(key.encode(), len(self.counts[topic]))
