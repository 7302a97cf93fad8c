"""A file's rows: all of them, numbered as they stand there, in the order in which they happened."""

import json
from pathlib import Path

import duckdb
import pytest

from generators.rows import (
    CHUNK_BYTES_MAX,
    LINE_BYTES_MAX,
    LINES_PER_CHUNK,
    BadFile,
    Row,
    read_rows,
)


def sort_rows(file: Path) -> list[Row]:
    return list(read_rows(file, "event_time", file.parent))


def write_lines(file: Path, *lines: bytes) -> Path:
    file.write_bytes(b"\n".join(lines))
    return file


def write_parquet(file: Path, query: str) -> None:
    duckdb.execute(f"copy ({query}) to '{file}' (format parquet)")


def render_row(second: int) -> bytes:
    return json.dumps({"event_time": f"2026-03-02T10:00:{second:02}.000Z"}).encode()


def test_lines_come_by_time_with_their_numbers(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "a.jsonl", render_row(7), b"", render_row(3), b"  ", render_row(5), b""
    )
    rows = sort_rows(file)
    assert [row.number for row in rows] == [3, 5, 1]
    assert [row.text and row.text.strip().encode() for row in rows] == [
        render_row(3),
        render_row(5),
        render_row(7),
    ]


def test_a_time_in_another_zone_is_the_same_time(tmp_path: Path) -> None:
    noon = b'{"event_time": "2026-03-02T11:00:04+01:00"}'
    file = write_lines(tmp_path / "a.ndjson", render_row(5), noon, render_row(3))
    assert [row.number for row in sort_rows(file)] == [3, 2, 1]


def test_what_has_no_time_comes_first_and_is_not_lost(tmp_path: Path) -> None:
    lines = (
        render_row(1),
        b"{half",
        b"[1]",
        b'{"event_time": 7}',
        b"\xff",
        b"x" * (LINE_BYTES_MAX + 9),
    )
    rows = sort_rows(write_lines(tmp_path / "a.jsonl", *lines, render_row(0)))
    assert [row.number for row in rows] == [2, 3, 4, 5, 6, 7, 1]
    assert [row.fault for row in rows if row.fault] == [
        "text in UTF-8",
        f"a line of at most {LINE_BYTES_MAX} bytes",
    ]


def test_a_line_may_be_as_long_as_an_event_and_no_longer(tmp_path: Path) -> None:
    """Its line break counts."""
    sizes = [LINE_BYTES_MAX + size for size in (-1, 0, 1, 9 * LINE_BYTES_MAX)]
    lines = [render_row(number).ljust(size - 1) for number, size in enumerate(sizes)]
    by_number = {
        row.number: row.fault for row in sort_rows(write_lines(tmp_path / "a.jsonl", *lines, b""))
    }
    message = f"a line of at most {LINE_BYTES_MAX} bytes"
    assert by_number == {1: None, 2: None, 3: message, 4: message}


def test_more_bytes_than_a_chunk_holds_stay_in_order(tmp_path: Path) -> None:
    long, count = LINE_BYTES_MAX // 2, 2 * CHUNK_BYTES_MAX // LINE_BYTES_MAX + 1
    lines = [render_row(count - number).ljust(long) for number in range(count)]
    numbers = [row.number for row in sort_rows(write_lines(tmp_path / "a.jsonl", *lines))]
    assert numbers == list(range(count, 0, -1))


def test_more_lines_than_a_chunk_stay_in_order(tmp_path: Path) -> None:
    seconds = [number * 37 % 60 for number in range(3 * LINES_PER_CHUNK + 1)]
    rows = sort_rows(write_lines(tmp_path / "a.jsonl", *map(render_row, seconds)))
    assert [row.number for row in rows] == sorted(
        range(1, len(seconds) + 1), key=lambda number: (seconds[number - 1], number)
    )


def test_the_rows_of_parquet_keep_their_types(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    write_parquet(
        file,
        "select 'b' as event_id, timestamptz '2026-03-02 10:00:01.120Z' as event_time, "
        "[{'sku': 'A', 'units': 2}] as lines union all "
        "select 'a', timestamptz '2026-03-02 10:00:00Z', []",
    )
    first, second = sort_rows(file)
    assert (first.number, second.number) == (2, 1)
    assert second.columns["lines"] == [{"sku": "A", "units": 2}]
    assert second.columns["event_time"].isoformat() == "2026-03-02T10:00:01.120000+00:00"


def test_parquet_without_the_time_is_read_nevertheless(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    write_parquet(file, "select 7 as units union all select 8")
    assert [(row.number, row.columns) for row in sort_rows(file)] == [
        (1, {"units": 7}),
        (2, {"units": 8}),
    ]


def test_parquet_that_cannot_be_read_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="should hold rows that can be read"):
        sort_rows(write_lines(tmp_path / "a.parquet", b"none"))


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert sort_rows(write_lines(tmp_path / "a.jsonl")) == []
