"""The ways in which the world spoils a record."""

from enum import IntEnum


class Dirt(IntEnum):
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
