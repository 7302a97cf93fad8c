"""Numbers, money, times and texts for people. World time is UTC."""

from datetime import datetime, timedelta
from typing import Any

from contracts.times import EPOCH, to_epoch_ms

NONE = "–"
DAY_MS = 86_400_000
BLOCKS = "▁▂▃▄▅▆▇█"


def parse_ms(iso: str) -> int:
    """Epoch milliseconds of a time in an answer."""
    return to_epoch_ms(datetime.fromisoformat(iso))


def to_instant(ms: float) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def clean(value: Any) -> str:
    """A text of an event, without control characters."""
    return "".join(letter if letter.isprintable() else "�" for letter in str(value))


def count(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def render_rate(value: float | None) -> str:
    return NONE if value is None else f"{value:,.1f}"


def render_money(cents: int | None) -> str:
    """Hundreds of cents: contracts name no currency. Exact for any whole number."""
    if cents is None:
        return NONE
    sign, (whole, rest) = "-" if cents < 0 else "", divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{rest:02}"


def render_duration(seconds: float | None) -> str:
    """A span in its largest unit."""
    if seconds is None:
        return NONE
    if seconds < 10:
        return f"{seconds:.1f} s"
    for limit, size, unit in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds // 86_400:,.0f} d"


def render_moment(iso: str, world_ms: float | None) -> str:
    """A world time, with its day where that is not the world's present day."""
    ms = parse_ms(iso)
    if world_ms is not None and ms // DAY_MS == world_ms // DAY_MS:
        return f"{to_instant(ms):%H:%M:%S}"
    return f"{to_instant(ms):%-d %b, %H:%M}"


def render_spark(values: list[int], most: int, width: int) -> str:
    """A line of blocks of at most this width; the height of each is the sum of its minutes."""
    size = max(1, -(-len(values) // max(1, width)))
    sums = [sum(values[at : at + size]) for at in range(0, len(values), size)]
    top = max(1, most * size)
    return "".join(BLOCKS[min(len(BLOCKS) - 1, len(BLOCKS) * max(0, one) // top)] for one in sums)
