"""Reads a part of the files into batches of columns, every cell as the text that stands there."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import chain, islice
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from python_calamine import CalamineError, CalamineWorkbook

from generators.importing.files import CHUNK_BYTES, Part, open_text
from generators.importing.mapping import Rows
from infra.errors import UserError

HEADER_ROWS_MAX = 50
"""So many rows may stand above the header."""
SAMPLE_LINES = 200
CELLS_PER_BATCH, ROWS_PER_BATCH_MIN = 200_000, 1_000
DELIMITERS = ",;\t|"
QUOTINGS: tuple[dict[str, Any], ...] = (
    {"quoting": csv.QUOTE_MINIMAL},
    {"quoting": csv.QUOTE_MINIMAL, "doublequote": False, "escapechar": "\\"},
    {"quoting": csv.QUOTE_NONE},
)
"""How quotes are read, the usual way first."""
NO_JSON = "row: expected an object in JSON"
MANY_CELLS = "row: expected as many cells as the header has, found more"

Cells = Sequence[str | None]


@dataclass(frozen=True)
class Batch:
    """Some rows: the names of their columns, the cells of each, and why a row is no row."""

    columns: Sequence[str]
    cells: Sequence[Cells | pa.StringArray]
    faults: Sequence[str | None]


@dataclass(frozen=True)
class Table:
    """A part, or a sheet of a workbook, with a row of names."""

    label: str
    batches: Iterator[Batch]


def read_tables(part: Part, rows: Rows, wanted: Collection[str] = ()) -> Iterator[Table]:
    """The part's tables that hold anything; `wanted` tells the header from what stands above it.

    Raises UserError.
    """
    if part.format == "json":
        yield Table(part.label, _read_json(part, rows))
    elif part.format == "parquet":
        yield _read_parquet(part)
    elif part.format == "sheets":
        yield from _read_sheets(part, rows, wanted)
    elif part.open().read(1):
        yield from _read_csv(part, rows, wanted)


def _read_csv(part: Part, rows: Rows, wanted: Collection[str]) -> Iterator[Table]:
    with open_text(part, rows.encoding) as text:
        lines = list(islice(text, SAMPLE_LINES))
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        delimiter = lines[0].strip()[4]
    else:
        delimiter = rows.delimiter or choose_delimiter(lines, wanted)
    dialect = {"delimiter": delimiter, **_choose_quoting(part, rows, delimiter)}
    yield from _cut_header(part.label, _read_records(part, rows, dialect), wanted)


def choose_delimiter(lines: Sequence[str], wanted: Collection[str]) -> str:
    """The delimiter by which a line holds most of the wanted names, and the lines are alike."""

    def weigh(delimiter: str) -> tuple[int, float]:
        records = [record for record in csv.reader(lines, delimiter=delimiter) if any(record)]
        [(width, count)] = Counter(map(len, records)).most_common(1) or [(0, 0)]
        alike = count * width / len(records) if width > 1 else 0.0
        return max((_count_names(record, wanted) for record in records), default=0), alike

    return max(DELIMITERS, key=weigh)


def _choose_quoting(part: Part, rows: Rows, delimiter: str) -> dict[str, Any]:
    """The way to read quotes by which the most rows are of one width: no quote swallows rows."""
    with part.open() as opened:
        if not any(b'"' in chunk for chunk in iter(lambda: opened.read(CHUNK_BYTES), b"")):
            return QUOTINGS[0]

    def count_regular(quoting: dict[str, Any]) -> int:
        try:
            records = _read_records(part, rows, {"delimiter": delimiter, **quoting})
            widths = Counter(len(record) for record in records if record)
        except UserError:
            return 0
        return max(widths.values(), default=0)

    return max(QUOTINGS, key=count_regular)


def _read_records(part: Part, rows: Rows, dialect: dict[str, Any]) -> Iterator[list[str]]:
    try:
        with open_text(part, rows.encoding) as text:
            yield from csv.reader(text, **dialect)
    except csv.Error as error:
        raise UserError(f"{part.label} should hold rows of text, but: {error}") from error


def _count_names(record: Iterable[str], wanted: Collection[str]) -> int:
    return len({_clean_name(name) for name in record}.intersection(wanted))


def _clean_name(name: str) -> str:
    return " ".join(name.replace("\ufeff", "").split())


def _cut_header(
    label: str, records: Iterator[list[str]], wanted: Collection[str]
) -> Iterator[Table]:
    head = list(islice(records, HEADER_ROWS_MAX))
    if not any(map(any, head)):
        return
    position = _find_header(head, wanted)
    names = _name_columns(label, head[position], wanted)
    rest = chain(head[position + 1 :], records)
    yield Table(label, _split(names, head[position], rest))


def _find_header(head: Sequence[Sequence[str]], wanted: Collection[str]) -> int:
    """The row with most of the wanted names; without any, the first of the usual width."""
    counts = [_count_names(record, wanted) for record in head]
    if any(counts):
        return counts.index(max(counts))
    filled = [sum(bool(cell.strip()) for cell in record) for record in head]
    [(usual, _)] = Counter(count for count in filled if count).most_common(1)
    return next(place for place, count in enumerate(filled) if count >= usual)


def _name_columns(label: str, record: Sequence[str], wanted: Collection[str]) -> list[str]:
    names: list[str] = []
    for number, cell in enumerate(record, start=1):
        name = _clean_name(cell) or f"column {number}"
        if name in names:
            if name in wanted:
                raise UserError(f"{label} should have one column {name}, but has several")
            name = f"{name} ({number})"
        names.append(name)
    return names


def _split(
    names: Sequence[str], header: Sequence[str], records: Iterable[Sequence[str]]
) -> Iterator[Batch]:
    width = len(names)
    yield Batch(names, [()] * width, ())  # its columns, if there is no row
    filled = filter(any, records)
    while some := list(islice(filled, max(ROWS_PER_BATCH_MIN, CELLS_PER_BATCH // width))):
        some = [record for record in some if record != header]
        faults: list[str | None] = [None] * len(some)
        for place in [place for place, record in enumerate(some) if len(record) != width]:
            record = some[place]
            if any(record[width:]):
                faults[place] = MANY_CELLS
            some[place] = [*record[:width], *[""] * (width - len(record))]
        yield Batch(names, list(zip(*some, strict=True)) or [()] * width, faults)


def _read_json(part: Part, rows: Rows) -> Iterator[Batch]:
    with open_text(part, rows.encoding) as text:
        start = text.read(1)
        text.seek(0)
        texts = _list_objects(text, part.label) if start == "[" else text
        filled = (line for line in texts if not isinstance(line, str) or line.strip())
        while some := list(islice(filled, CELLS_PER_BATCH // 20)):
            parsed = [read_json(line) if isinstance(line, str) else line for line in some]
            read = [row for each in parsed for row in _spread(each, rows.each)]
            flat = [_flatten(row) if isinstance(row, dict) else {} for row in read]
            names = [*dict.fromkeys(chain.from_iterable(flat))]
            faults = [None if isinstance(row, dict) else NO_JSON for row in read]
            yield Batch(names, [[row.get(name) for row in flat] for name in names], faults)


def _list_objects(text: Iterable[str], label: str) -> list[Any]:
    found = read_json("".join(text))
    if not isinstance(found, list):
        raise UserError(f"{label} should be a list of objects in JSON, or an object per line")
    return [row if isinstance(row, dict) else None for row in found]


def write_decimals(number: str) -> str:
    """A number whose point is known to be one: with three decimals it could stand for thousands."""
    return f"{number}0" if re.fullmatch(r"-?[0-9]{1,3}\.[0-9]{3}", number) else number


def read_json(line: str) -> Any:
    """The value, with numbers as they are written; None for what is no JSON."""
    try:
        return json.loads(line, parse_float=write_decimals, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def _spread(row: Any, name: str | None) -> list[Any]:
    """A row for each element of the list of that name, beside what the list stands beside."""
    if name is None or not isinstance(row, dict) or not isinstance(row.get(name), list):
        return [row]
    return [{**row, name: element} for element in row[name]] or [{**row, name: None}]


def _flatten(row: dict[str, Any], before: str = "") -> dict[str, str | None]:
    flat: dict[str, str | None] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{before}{name}.")
        elif value is None or isinstance(value, str):
            flat[before + name] = value
        else:
            flat[before + name] = json.dumps(value, ensure_ascii=False)
    return flat


def _read_parquet(part: Part) -> Table:
    try:
        file = pq.ParquetFile(part.path or io.BytesIO(part.open().read()))
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{part.label} should be a file of Parquet, but: {error}") from error
    names = list(file.schema_arrow.names)

    def batches() -> Iterator[Batch]:
        yield Batch(names, [()] * len(names), ())
        for batch in file.iter_batches(max(1, CELLS_PER_BATCH // max(1, len(names)))):
            cells = [_cast_column(column) for column in batch.columns]
            yield Batch(names, cells, [None] * batch.num_rows)

    return Table(part.label, batches())


def _cast_column(column: "pa.Array[Any]") -> Cells | pa.StringArray:
    try:
        texts = cast("pa.StringArray", column.cast(pa.string()))
        if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            return pc.replace_substring_regex(texts, r"^(-?[0-9]{1,3}\.[0-9]{3})$", r"\10")
        return texts
    except pa.ArrowException:
        return [None if value is None else str(value) for value in column.to_pylist()]


def _read_sheets(part: Part, rows: Rows, wanted: Collection[str]) -> Iterator[Table]:
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(part.open().read()))
    except (CalamineError, OSError) as error:
        raise UserError(f"{part.label} should be a workbook, but: {error}") from error
    lacking = [name for name in rows.sheets if name not in book.sheet_names]
    if lacking:
        found = ", ".join(book.sheet_names)
        raise UserError(f"{part.label} should have the sheets {', '.join(lacking)}. Found: {found}")
    for name in rows.sheets or book.sheet_names:
        records = map(_write_cells, book.get_sheet_by_name(name).iter_rows())
        label = part.label if len(book.sheet_names) == 1 else f"{part.label}/{name}"
        yield from _cut_header(label, records, wanted)


def _write_cells(cells: Iterable[object]) -> list[str]:
    return [_write_cell(cell) for cell in cells]


def _write_cell(cell: object) -> str:
    """The cell as its program shows it: numbers with at most fifteen digits."""
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < 1e15
        return str(int(cell)) if whole else write_decimals(f"{cell:.15g}")
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="milliseconds" if cell.microsecond else "seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return str(cell).lower() if isinstance(cell, bool) else "" if cell is None else str(cell)
