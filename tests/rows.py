"""Rows that Spark hands out, as the contracts' codec hands them out."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """The frame's rows, as deep as they are nested."""
    return [plain(row.asDict(recursive=True)) for row in frame.collect()]


def plain(value: Any) -> Any:
    """Spark hands out local time without a zone; the codec, UTC with one."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
