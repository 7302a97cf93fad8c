"""The scratch database of an import, on disk: rows go in and come out by the thousand."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

MEMORY_MAX = "768MB"  # DuckDB spills the rest to disk
ROWS_PER_CHUNK, TEXTS_PER_CHUNK = 5_000, 50_000


def open_scratch(folder: Path) -> duckdb.DuckDBPyConnection:
    """An empty database in the folder; it is removed with the folder."""
    limits: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_MAX,
        "temp_directory": str(folder),
        "threads": 2,
    }
    engine = duckdb.connect(str(folder / "lines.duckdb"), config=limits)
    engine.execute("set TimeZone = 'UTC'")
    return engine


def stream(engine: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that runs beside others on the same database."""
    found = engine.cursor().execute(query)
    while rows := found.fetchmany(ROWS_PER_CHUNK):
        yield from rows


def keep(
    engine: duckdb.DuckDBPyConnection,
    table: str,
    rows: Iterable[tuple[str | None, ...]],
    types: dict[str, str],
) -> None:
    """Make the table of the rows, which come as texts."""
    engine.execute(f"create table {table} ({', '.join(map(' '.join, types.items()))})")
    left = iter(rows)
    while some := list(islice(left, TEXTS_PER_CHUNK)):
        cells = map(build_texts, zip(*some, strict=True))
        chunk = pa.table([*cells], names=list(types))  # noqa: F841 - DuckDB finds it
        engine.execute(f"insert into {table} from chunk")


def build_texts(texts: Iterable[str | None]) -> pa.StringArray:
    """As `pa.array` does, which imports pandas for it."""
    builder = pa.lib.StringBuilder()
    builder.append_values(texts)
    return builder.finish()


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
