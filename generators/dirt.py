"""The ways in which the world spoils a record."""

from enum import IntEnum


class Dirt(IntEnum):
    NONE = 0
    LATE = 1  # published long after it happened, within the horizon
    BEYOND_HORIZON = 2  # published too late to be applied
    DUPLICATE = 3  # the same event once more
    FUTURE = 4  # a clock is ahead: it says that it will happen
    MALFORMED = 5  # cut short, or noise
    UNKNOWN_SCHEMA = 6  # written with a schema that nobody knows
    BROKEN_RULE = 7  # says what its contract does not allow


# Instead of the good event; nobody can tell from such a record what moved.
UNREADABLE = frozenset({Dirt.MALFORMED, Dirt.UNKNOWN_SCHEMA, Dirt.BROKEN_RULE})
