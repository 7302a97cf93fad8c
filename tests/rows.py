"""Rows that Spark hands out, as the contracts' codec hands them out."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame


def collect_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """The frame's rows, as deep as they are nested."""
    return [to_plain(row.asDict(recursive=True)) for row in frame.collect()]


def to_plain(value: Any) -> Any:
    """Spark hands out local time without a zone; the codec, UTC with one."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: to_plain(inner) for name, inner in value.items()}
    return [to_plain(inner) for inner in value] if isinstance(value, list) else value
