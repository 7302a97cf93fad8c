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
from generators.importing.selection import FILE_COLUMN, ROW_COLUMN, quote, quote_name, select_lines
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
            inside = sorted(
                file for file in path.iterdir() if file.is_file() and _find_format(file)
            )
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


def scan(file: Path, mapping: Mapping | None) -> str:
    """SQL for the file's rows, every column as text."""
    name = quote(str(file))
    if _find_format(file) == "parquet":
        return f"read_parquet({name})"
    if _find_format(file) == "json":
        return f"read_json({name}, format = 'newline_delimited', ignore_errors = true)"
    rows = mapping.rows if mapping else None
    delimiter = f", delim = {quote(rows.delimiter)}" if rows and rows.delimiter else ""
    encoding = rows.encoding if rows else "utf-8"
    return (
        f"read_csv({name}, header = true, all_varchar = true, null_padding = true,"
        f" strict_mode = false, parallel = false, encoding = '{encoding}'{delimiter})"
    )


def list_columns(engine: duckdb.DuckDBPyConnection, relation: str) -> list[str]:
    return [row[0] for row in engine.execute(f"describe from {relation}").fetchall()]


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
            rows += _read_file(engine, mapping, file, files[0].parent, first=number == 0)
        if isinstance(mapping.fields.measure, str):
            _refuse_mixed(engine)
        report("grouping lines into receipts")
        _group(engine, len(files))
    except duckdb.Error as error:
        raise UserError(f"The files should hold rows that can be read, but: {error}") from error
    return rows


def _read_file(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, file: Path, beside: Path, *, first: bool
) -> int:
    rows = f"(select {quote(file.name)} as {FILE_COLUMN}, row_number() over () as {ROW_COLUMN},"
    source = f"{rows} columns(*)::varchar from {scan(file, mapping)})"
    if mapping.wide is not None:
        wide, there = mapping.wide, list_columns(engine, source)
        days = [quote_name(name) for name in there if wide.columns.search(name)]
        if not days:
            raise UserError(
                f"wide.columns: expected columns that match {wide.columns.pattern}, "
                f"found {', '.join(there)[:200]}"
            )
        name, value = quote_name(wide.name), quote_name(wide.value)
        source = (
            f"(select * from (unpivot {source} on {', '.join(days)} into name {name} "
            f"value {value}) where try_cast({value} as double) <> 0)"
        )
    for number, lookup in enumerate(mapping.lookups):
        named = f"lookup_{number}"
        source = _join(engine, source, named, beside / lookup.file, lookup.match, mapping)
    _check_columns(mapping, list_columns(engine, source))
    verb = "create table lines as" if first else "insert into lines"
    [count] = engine.execute(f"{verb} {select_lines(mapping, source)}").fetchone() or (0,)
    return int(count)


def _join(
    engine: duckdb.DuckDBPyConnection,
    source: str,
    name: str,
    file: Path,
    match: dict[str, str],
    mapping: Mapping,
) -> str:
    """SQL for the rows with the file's columns. Reads the file into table `name`, once."""
    if not file.is_file():
        raise UserError(f"lookups: expected a file {file}, found none")
    engine.execute(
        f"create table if not exists {quote_name(name)} as "
        f"select columns(*)::varchar from {scan(file, mapping)}"
    )
    keys = ", ".join(quote_name(theirs) for theirs in match)
    twice = engine.execute(
        f"select {keys} from {quote_name(name)} group by all having count(*) > 1 limit 1"
    ).fetchone()
    if twice:
        raise UserError(f"{file} should have one row for each {keys}, but has several for {twice}")
    condition = " and ".join(
        f"theirs.{quote_name(theirs)} = ours.{quote_name(ours)}" for theirs, ours in match.items()
    )
    taken = {*list_columns(engine, source)}
    new = [column for column in list_columns(engine, quote_name(name)) if column not in taken]
    added = "".join(f", theirs.{quote_name(column)}" for column in new)
    other = f"{quote_name(name)} theirs on {condition}"
    return f"(select ours.*{added} from {source} ours left join {other})"


def _check_columns(mapping: Mapping, there: list[str]) -> None:
    lacking = sorted(set(_name_columns(mapping)) - set(there))
    if lacking:
        columns = [column for column in there if column not in (FILE_COLUMN, ROW_COLUMN)]
        found = ", ".join(columns)[:300]
        raise UserError(
            f"The mapping names columns that the files lack: {', '.join(lacking)}. Found: {found}"
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
