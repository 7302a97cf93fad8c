"""Times in milliseconds since 1970, and as text."""

from collections.abc import Container, Mapping
from datetime import timedelta
from typing import Any

from contracts.times import EPOCH, MILLISECOND, to_text


def to_ms(span: timedelta) -> int:
    """Whole milliseconds of a span of time, rounded down."""
    return span // MILLISECOND


def render_instant(at_ms: int) -> str:
    """Epoch milliseconds as clients see them: ISO 8601, UTC."""
    return to_text(EPOCH + timedelta(milliseconds=at_ms))


def render_instant_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else render_instant(at_ms)


def render_instants(row: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """The row, its members of these names as clients see times."""
    return {
        name: render_instant_or_none(value) if name in names else value
        for name, value in row.items()
    }
