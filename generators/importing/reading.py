"""Reads files into lines: a row per line of a receipt, in a scratch database on disk.

Table `lines`: file, row, copy (which of the equal rows of its file it is), key (which receipt),
kind (receipt, refund, adjustment), happened (epoch milliseconds), store, sku, units, measure,
price_cents, register_id, cashier, customer, card, name, category, fault. Units of a refund count
returned goods. Units of a row with a measure are thousandths of it. A fault says why the row cannot
be read; its other columns may then be null.
Table `receipts`: key, issued (its first line's time), fault (the first of its lines').
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb

from generators.importing.mapping import Mapping
from generators.importing.selection import (
    FILE_COLUMN,
    ROW_COLUMN,
    quote,
    select_lines,
)
from infra.errors import UserError

FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet"} | dict.fromkeys(
    (".jsonl", ".ndjson"), "json"
)
COMPRESSED = (".gz", ".zst")
MEMORY_MAX = "768MB"  # DuckDB spills the rest to disk


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The files; of a folder, its files with a known ending, by name. Raises UserError."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.is_file() and _find_format(one))
            if not inside:
                raise UserError(
                    f"{path} should hold files that end in {_list_endings()}, but has none"
                )
            files += inside
        elif not path.is_file():
            raise UserError(f"{path} should be a file or a folder to import, but there is none")
        elif _find_format(path) is None:
            raise UserError(f"{path} should end in {_list_endings()}, which says how to read it")
        else:
            files.append(path)
    return files


def _scan(file: Path, mapping: Mapping) -> str:
    """SQL for the file's rows, every column as text."""
    name = quote(str(file))
    if _find_format(file) == "parquet":
        return f"read_parquet({name})"
    if _find_format(file) == "json":
        return f"read_json({name}, format = 'newline_delimited', ignore_errors = true)"
    rows = mapping.rows
    delimiter = f", delim = {quote(rows.delimiter)}" if rows.delimiter else ""
    return (
        f"read_csv({name}, header = true, all_varchar = true, null_padding = true,"
        f" strict_mode = false, parallel = false, encoding = '{rows.encoding}'{delimiter})"
    )


def _find_format(file: Path) -> str | None:
    name = Path(file.stem) if file.suffix in COMPRESSED else file
    return FORMATS.get(name.suffix.lower())


def _list_endings() -> str:
    return f"{', '.join(FORMATS)}, or with {' or '.join(COMPRESSED)} behind it"


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


def read_lines(
    engine: duckdb.DuckDBPyConnection,
    mapping: Mapping,
    files: Sequence[Path],
    report: Callable[[str], None],
) -> int:
    """Fill the tables. Returns the number of rows read. Raises UserError."""
    rows = 0
    try:
        for number, file in enumerate(files):
            report(f"reading {file.name}")
            rows += _read_file(engine, mapping, file, first=number == 0)
        if isinstance(mapping.fields.measure, str):
            _refuse_mixed(engine)
        report("grouping lines into receipts")
        _group(engine, len(files))
    except duckdb.Error as error:
        raise UserError(f"The files should hold rows that can be read, but: {error}") from error
    return rows


def _read_file(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, file: Path, *, first: bool
) -> int:
    rows = f"(select {quote(file.name)} as {FILE_COLUMN}, row_number() over () as {ROW_COLUMN},"
    source = f"{rows} columns(*)::varchar from {_scan(file, mapping)})"
    there = engine.execute(f"describe from {source}").fetchall()
    _check_columns(mapping, [name for name, *_ in there])
    verb = "create table lines as" if first else "insert into lines"
    [count] = engine.execute(f"{verb} {select_lines(mapping, source)}").fetchone() or (0,)
    return int(count)


def _check_columns(mapping: Mapping, there: list[str]) -> None:
    lacking = sorted(set(_name_columns(mapping)) - set(there))
    if lacking:
        columns = ", ".join(one for one in there if one not in (FILE_COLUMN, ROW_COLUMN))[:300]
        raise UserError(
            f"The mapping names columns that the files lack: {', '.join(lacking)}. Found: {columns}"
        )


def _name_columns(mapping: Mapping) -> Iterator[str]:
    fields = mapping.fields
    for source in (*dict(fields).values(), mapping.products.name, mapping.products.category):
        if isinstance(source, str):
            yield source
    yield mapping.time.column
    yield from mapping.receipt.by
    yield from mapping.rows.skip
    if mapping.cancelled and mapping.cancelled.column:
        yield mapping.cancelled.column


def _refuse_mixed(engine: duckdb.DuckDBPyConnection) -> None:
    """Give a fault to all rows of a sku that has several measures: its stock is one number."""
    engine.execute(
        "update lines set fault = 'measure: expected the same in all rows of a sku' "
        "where fault is null and sku in (select sku from lines where fault is null "
        "group by sku having count(distinct coalesce(measure, '')) > 1)"
    )


def _group(engine: duckdb.DuckDBPyConnection, files: int) -> None:
    if files > 1:  # a row that several exports hold counts once
        same = "store, kind, key, happened, sku, units, price_cents, copy"
        engine.execute(
            "create table once as select * from lines "
            f'qualify row_number() over (partition by {same} order by file, "row") = 1'
        )
        engine.execute("drop table lines")
        engine.execute("alter table once rename to lines")
    engine.execute(
        "create table receipts as select store, kind, key, min(happened) as issued, "
        'arg_min(fault, "row") filter (where fault is not null) as fault '
        "from lines group by store, kind, key"
    )
