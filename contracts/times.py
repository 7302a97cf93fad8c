"""Times and lengths of time, as numbers and as text."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "min": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}


def to_instant(milliseconds: int) -> datetime | None:
    """The moment in UTC; None outside the years 1 to 9999, which Python's calendar has."""
    try:
        return EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def parse_span(text: str) -> timedelta:
    """2 h, 5 min, 90 s. Raises ValueError."""
    number, _, unit = text.partition(" ")
    if not number.isdigit() or unit not in UNITS:
        raise ValueError(f"expected a length of time as 2 h, with {', '.join(UNITS)}")
    return int(number) * UNITS[unit]


def render_span(length: timedelta) -> str:
    """2 h, 5 min, 90 s"""
    for unit, span in UNITS.items():
        if length and not length % span:
            return f"{length // span} {unit}"
    return f"{length.total_seconds():.15g} s"


def to_text(moment: datetime) -> str:
    """As JSON spells it: in UTC, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_epoch_ms(moment: datetime | int) -> int:
    """Whole milliseconds since the epoch of a decoded timestamp."""
    return moment if isinstance(moment, int) else round(moment.timestamp() * 1000)
