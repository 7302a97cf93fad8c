"""Reads the rows of a file, sorted by event time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa

from infra.errors import UserError

MEMORY_MAX = "512MB"  # what is beyond it is sorted on disk
LINE_BYTES_MAX = 1_048_576  # one event: as much as Kafka takes
LINES_PER_CHUNK = 2_000
CHUNK_BYTES_MAX = 16 * LINE_BYTES_MAX
ROWS_PER_CHUNK = 2_000

COLUMNS: dict[str, pa.DataType] = {
    "number": pa.int64(),
    "line": pa.string(),
    "fault": pa.string(),
}
LINES = pa.schema(COLUMNS)


class BadFile(UserError):
    """A file that holds no rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Its number counts the file's lines, or a Parquet file's rows, from 1."""

    number: int
    text: str | None
    """Unparsed JSON; None where the row came with its columns."""
    columns: Mapping[str, Any]
    fault: str | None
    """Why the row cannot be read; None if it can."""


def read_rows(file: Path, time_field: str, scratch: Path) -> Iterator[Row]:
    """The file's rows, sorted by `time_field`; rows without a time come first. Raises BadFile.

    Sorting uses at most MEMORY_MAX of memory, and the scratch folder beyond that.
    """
    read = READERS.get(file.suffix)
    if read is None:
        raise BadFile(f"{file} should end in {', '.join(READERS)}, which says how to read it")
    if not file.is_file():
        raise BadFile(f"{file} should be a file to load, but there is none")
    limits: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_MAX,
        "temp_directory": str(scratch),
    }
    try:
        with closing(duckdb.connect(config=limits)) as engine:
            engine.execute("set TimeZone = 'UTC'")
            yield from read(engine, file, time_field)
    except (duckdb.Error, pa.ArrowException) as error:
        raise BadFile(f"{file} should hold rows that can be read, but: {error}") from error


def _read_json_lines(
    engine: duckdb.DuckDBPyConnection, file: Path, time_field: str
) -> Iterator[Row]:
    with file.open("rb") as opened:
        lines = pa.RecordBatchReader.from_batches(LINES, _read_chunks(opened))
        engine.register("lines", lines)
        happened = f"try_cast(json_extract_string(line, '$.{time_field}') as timestamptz)"
        relation = engine.sql(
            "select number, line, fault from lines "
            f"order by case when json_valid(line) then {happened} end nulls first, number"
        )
        for chunk in relation.to_arrow_reader(ROWS_PER_CHUNK):
            for row in chunk.to_pylist():
                yield Row(row["number"], row["line"], {}, row["fault"])


def _read_chunks(opened: BinaryIO) -> Iterator[pa.RecordBatch]:
    """The file's lines without empty ones, numbered from 1 as in an editor."""
    chunk: list[dict[str, Any]] = []
    number = size = 0
    while line := opened.readline(LINE_BYTES_MAX + 1):
        number += 1
        size += len(line)
        if len(line) > LINE_BYTES_MAX:
            while line and not line.endswith(b"\n"):
                line = opened.readline(LINE_BYTES_MAX)
            fault = f"a line of at most {LINE_BYTES_MAX} bytes"
            chunk.append({"number": number, "line": None, "fault": fault})
        elif line.strip():
            chunk.append({"number": number, **_parse_line(line)})
        if len(chunk) >= LINES_PER_CHUNK or size >= CHUNK_BYTES_MAX:
            yield pa.RecordBatch.from_pylist(chunk, LINES)
            chunk, size = [], 0
    yield pa.RecordBatch.from_pylist(chunk, LINES)


def _parse_line(line: bytes) -> dict[str, str | None]:
    try:
        return {"line": line.decode(), "fault": None}
    except UnicodeDecodeError:
        return {"line": None, "fault": "text in UTF-8"}


def _read_parquet(engine: duckdb.DuckDBPyConnection, file: Path, time_field: str) -> Iterator[Row]:
    relation = engine.sql(
        "select file_row_number + 1 as _number, * exclude (file_row_number) "
        "from read_parquet($file, file_row_number = true)",
        params={"file": str(file)},
    )
    timed = time_field in relation.columns
    order = f'try_cast("{time_field}" as timestamptz) nulls first, _number' if timed else "_number"
    for chunk in relation.order(order).to_arrow_reader(ROWS_PER_CHUNK):
        for row in chunk.to_pylist():
            yield Row(row.pop("_number"), None, row, None)


READERS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, Path, str], Iterator[Row]]] = {
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": _read_parquet,
}
"""By the suffix of the file's name."""
