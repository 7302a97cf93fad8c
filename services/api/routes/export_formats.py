"""The rows of a view as CSV, Parquet and Arrow, a chunk at a time; the first imports pyarrow."""

import csv
import io
import json
from collections.abc import Callable, Generator, Iterable, Sequence
from enum import StrEnum
from typing import Any

from contracts import Contract
from contracts.arrow import build_arrow_schema
from contracts.documents import from_document
from services.api.store.tables import Document

Chunks = Iterable[Sequence[Document]]
"""Rows as clients see them in JSON."""

Parts = Generator[bytes, None, None]

HEAD = b"head"
"""The key in a schema's metadata under which Parquet and Arrow hold the export's head, as JSON."""


class Format(StrEnum):
    NDJSON = "ndjson"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


MEDIA_TYPES = {
    Format.NDJSON: "application/x-ndjson",
    Format.CSV: "text/csv; charset=utf-8",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.ARROW: "application/vnd.apache.arrow.stream",
}


def render_csv(view: Contract, head: Document, chunks: Chunks) -> Parts:
    """A line of names, then the rows: times in ISO 8601, a list as JSON, nothing for null."""
    names = [field.name for field in view.fields]
    lists = {field.name for field in view.fields if field.type == "array"}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    for chunk in chunks:
        writer.writerows(
            [json.dumps(row[name]) if name in lists else row[name] for name in names]
            for row in chunk
        )
        yield _take(text)
    yield _take(text)


def render_parquet(view: Contract, head: Document, chunks: Chunks) -> Parts:
    """A file of Parquet, a row group for each chunk."""
    from pyarrow.parquet import ParquetWriter

    return _render_columns(view, head, chunks, ParquetWriter)


def render_arrow(view: Contract, head: Document, chunks: Chunks) -> Parts:
    """A stream of Arrow's IPC format, a record batch for each chunk."""
    from pyarrow.ipc import new_stream

    return _render_columns(view, head, chunks, new_stream)


RENDERERS = {
    Format.CSV: render_csv,
    Format.PARQUET: render_parquet,
    Format.ARROW: render_arrow,
}


def _render_columns(
    view: Contract, head: Document, chunks: Chunks, open_writer: Callable[..., Any]
) -> Parts:
    import pyarrow as pa

    schema = build_arrow_schema(view).with_metadata({HEAD: json.dumps(head).encode()})
    written = io.BytesIO()
    with open_writer(pa.PythonFile(Forward(written)), schema) as writer:
        for chunk in chunks:
            rows = [from_document(view, row) for row in chunk]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            yield _take(written)
    yield _take(written)


class Forward(io.RawIOBase):
    """A file that only grows, while what it holds is taken away: it knows how much was written."""

    def __init__(self, written: io.BytesIO) -> None:
        self._written = written
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._position += len(data)
        return self._written.write(data)

    def tell(self) -> int:
        return self._position


def _take(buffer: Any) -> bytes:
    """What the buffer holds, as bytes; it is empty then."""
    held = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return held.encode() if isinstance(held, str) else bytes(held)
