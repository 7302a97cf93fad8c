"""World time: when it begins and how it is divided. All times are milliseconds since 1970, UTC."""

from datetime import UTC, datetime

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)  # a Monday morning
START_MS = int(START.timestamp()) * 1000

TICK_MS = 60_000  # one world minute
TICKS_PER_HOUR = 60
TICKS_PER_DAY = 24 * TICKS_PER_HOUR
HOUR_MS = TICKS_PER_HOUR * TICK_MS
HOURS_PER_WEEK = 7 * 24

ANNOUNCED_MS = START_MS - HOUR_MS  # the first dimension versions: they need notice


def to_tick_start_ms(tick: int) -> int:
    return START_MS + tick * TICK_MS


def to_hour_start_ms(hour: int) -> int:
    return START_MS + hour * HOUR_MS


def to_hour_of_week(hour: int) -> int:
    """Hours since Monday, midnight, of the world's n-th hour."""
    return (START.hour + hour) % HOURS_PER_WEEK


def to_hour_of_day(hour: int) -> int:
    """Hours since midnight of the world's n-th hour."""
    return (START.hour + hour) % 24


def to_day_start_ms(number: int) -> int:
    """The midnight at which the world's n-th day begins; the first lies before START."""
    return to_hour_start_ms(24 * number - START.hour)


def to_day(hour: int) -> int:
    """The calendar day of the world's n-th hour, counted from the first."""
    return (START.hour + hour) // 24
