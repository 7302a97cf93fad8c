"""Reads files into lines: a row per line of a receipt, in a scratch database on disk.

Table `raw`: file, row, mended, fault (why it is no row), and every column of the files, as text.
Table `source`: its rows, a row per cell where the files have a column per day, with the columns of
other files beside them.
Table `taken`: each row as the mapping reads it; see `selection.py`.
Table `decided`: name and ident (of a column of `source`), sign (before decimals; null of texts).
Table `lines`: file, row, event_id, kind (receipt, refund, adjustment), happened (epoch
milliseconds), store, sku, units, measure, price_cents, register_id, cashier, customer, card, name,
category, fault, issued (its receipt's first time), receipt_fault. Units of a refund count
returned goods. Units of a row with a measure are thousandths of it. A fault says why the row cannot
be read; its other columns may then be null. A receipt's fault is the first of its lines'.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generators.importing.columns import Columns, interpret_numbers, interpret_times
from generators.importing.engine import build_texts, keep
from generators.importing.files import list_files, list_parts
from generators.importing.identity import BLANK, create_macros, repeat_from_first, study_texts
from generators.importing.mapping import Lookup, Mapping, Rows
from generators.importing.selection import create_lines
from generators.importing.tables import Batch, Cells, read_tables
from infra.errors import UserError

MENDED = ("_file", "_row", "_reason")
"""The columns of the file of refused rows: where a row stood, and why it was refused."""


def read_lines(
    engine: duckdb.DuckDBPyConnection,
    mapping: Mapping,
    files: Sequence[Path],
    report: Callable[[str], None],
) -> int:
    """Fill the tables. Returns the number of rows read. Raises UserError."""
    try:
        create_macros(engine, mapping.rows.nothing)
        columns = load_source(engine, mapping, files, report)
        report("reading the columns")
        names = study_texts(engine, mapping, columns)
        if not mapping.wide and mapping.receipt.by:
            repeat_from_first(engine, mapping, names)
        names.signs = interpret_numbers(engine, mapping, columns)
        names.times = interpret_times(engine, mapping, columns)
        report("grouping lines into receipts")
        create_lines(engine, names, mapping)
        decided = [(name, column, names.signs.get(name)) for name, column in columns.items()]
        keep(engine, "decided", decided, dict.fromkeys(("name", "ident", "sign"), "varchar"))
    except duckdb.Error as error:
        raise UserError(f"The files should hold rows that can be read, but: {error}") from error
    [rows] = engine.execute("select count(*) from taken").fetchone() or (0,)
    return int(rows)


def load_source(
    engine: duckdb.DuckDBPyConnection,
    mapping: Mapping,
    files: Sequence[Path],
    report: Callable[[str], None],
) -> Columns:
    """Fill the tables `raw` and `source`. Returns the names of source's columns."""
    beside = [
        _load_lookup(engine, mapping, lookup, number, files[0].parent)
        for number, lookup in enumerate(mapping.lookups)
    ]
    raw = Reader(engine, "raw", "c")
    wanted = _list_wanted(mapping, beside)
    optional = [name for name in mapping.list_optional() if not any(name in new for new in beside)]
    days = mapping.wide.columns if mapping.wide else None
    for part in list_parts(files):
        report(f"reading {part.label}")
        for table in read_tables(part, mapping.rows, [*wanted, *optional]):
            names = raw.load(table.label, table.batches)
            if days and names and not any(map(days.search, names)):
                raise UserError(
                    f"wide.columns: expected columns that match {days.pattern}, "
                    f"found in {table.label} {', '.join(names)[:200]}"
                )
            if names:  # a file without rows has no columns to lack
                _check_columns(table.label, wanted, names)
    if raw.columns:
        _check_columns("Each of the files", optional, raw.columns)
    columns = dict(raw.columns)
    for name in (*wanted, *optional):
        columns.setdefault(name, raw.add_column(name))
    keep(engine, "raw_columns", raw.columns.items(), {"name": "varchar", "ident": "varchar"})
    if not mapping.wide:
        engine.execute(
            "delete from raw where not mended "
            "and (file, row) in (select (file, row) from raw where mended)"
        )
    return _join_source(engine, mapping, columns, beside)


def _list_wanted(mapping: Mapping, beside: Sequence[Columns]) -> list[str]:
    """The columns that each file should have."""
    added = {name for new in beside for name in new}
    if mapping.wide:
        added |= {mapping.wide.name, mapping.wide.value}
    keys = [ours for lookup in mapping.lookups for ours in lookup.match.values()]
    named = (*mapping.list_required(), *keys)
    return [*dict.fromkeys(name for name in named if name not in added)]


def _check_columns(label: str, wanted: Iterable[str], there: Collection[str]) -> None:
    lacking = [name for name in wanted if name not in there]
    if lacking:
        raise UserError(
            f"{label} lacks columns that the mapping names: {', '.join(lacking)}. "
            f"Found: {', '.join(there)[:300]}"
        )


class Reader:
    """Loads parts of files into one table, whose columns are those of all parts."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, table: str, prefix: str) -> None:
        self._engine = engine
        self._table = table
        self._prefix = prefix
        self.columns: Columns = {}
        engine.execute(
            f"create table {table} (file varchar, row bigint, mended boolean, fault varchar)"
        )

    def load(self, label: str, batches: Iterable[Batch]) -> list[str]:
        """Add the rows. Returns the names of the columns that they have."""
        row, names = 1, dict[str, None]()
        for batch in batches:
            names |= dict.fromkeys(batch.columns)
            self._insert(label, row, batch)
            row += len(batch.faults)
        return list(names)

    def add_column(self, name: str) -> str:
        if name not in self.columns:
            self.columns[name] = f"{self._prefix}{len(self.columns)}"
            self._engine.execute(
                f"alter table {self._table} add column {self.columns[name]} varchar"
            )
        return self.columns[name]

    def _insert(self, label: str, row: int, batch: Batch) -> None:
        cells = dict(zip(batch.columns, batch.cells, strict=True))
        arrays = {
            self.add_column(name): _trim(column)
            for name, column in cells.items()
            if name not in MENDED
        }
        arrays["fault"] = build_texts(batch.faults)
        position = f"{row - 1} + row_number() over ()"
        place = f"? as file, {position} as row, false as mended"
        if "_file" in cells and "_row" in cells:
            arrays |= {name: _trim(cells[name]) for name in ("_file", "_row")}
            place = (
                "coalesce(nullif(_file, ''), ?) as file, coalesce(try_cast(_row as bigint), "
                f"{position}) as row, coalesce(_file, '') <> '' as mended"
            )
        chunk = pa.table(arrays)  # noqa: F841 - DuckDB finds it by its name
        named = ", ".join(name for name in arrays if name not in MENDED)
        self._engine.execute(
            f"insert into {self._table} by name select {place}, {named} from chunk", [label]
        )


def _trim(cells: Cells | pa.StringArray) -> pa.StringArray:
    """The texts without blanks around them and without Excel's `="…"`; null where nothing is."""
    texts = cells if isinstance(cells, pa.StringArray) else build_texts(cells)
    texts = pc.utf8_trim(texts, BLANK)
    if pc.any(pc.starts_with(texts, '="')).as_py():
        texts = pc.replace_substring_regex(texts, '^="(.*)"$', r"\1")
    empty, nothing = build_texts(("", None))
    return cast("pa.StringArray", pc.if_else(pc.equal(texts, empty), nothing, texts))


def _load_lookup(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, lookup: Lookup, number: int, beside: Path
) -> Columns:
    """Read the second file into table `lookup_N`. Returns the names of its columns."""
    file = beside / lookup.file
    if not file.is_file():
        raise UserError(f"lookups: expected a file {file}, found none")
    table = f"lookup_{number}"
    reader = Reader(engine, table, f"l{number}_")
    rows = Rows(encoding=mapping.rows.encoding)
    for part in list_parts(list_files([file])):
        for found in read_tables(part, rows, lookup.match):
            _check_columns(found.label, lookup.match, reader.load(found.label, found.batches))
    keys = ", ".join(f"clean({reader.add_column(theirs)})" for theirs in lookup.match)
    twice = engine.execute(
        f"select {keys} from {table} where coalesce({keys}) is not null "
        "group by all having count(*) > 1 limit 1"
    ).fetchone()
    if twice:
        named = ", ".join(lookup.match)
        raise UserError(f"{file} should have one row for each {named}, but has several for {twice}")
    return reader.columns


def _join_source(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns, beside: Sequence[Columns]
) -> Columns:
    """Make `source` of `raw`. Returns the names of its columns."""
    rows = "raw"
    if mapping.wide:
        columns = _unpivot(engine, mapping, columns)
        rows = "cells"
    joins = ""
    added: Columns = {}
    for number, (lookup, names) in enumerate(zip(mapping.lookups, beside, strict=True)):
        there = {**columns, **added}
        same = " and ".join(
            f"clean(lookup_{number}.{names[theirs]}) = clean({there[ours]})"
            for theirs, ours in lookup.match.items()
        )
        joins += f" left join lookup_{number} on {same}"
        added |= {name: column for name, column in names.items() if name not in there}
    named = ", ".join(f"{rows}.*" if not added else name for name in (f"{rows}.*", *added.values()))
    if joins:
        engine.execute(f"create table joined as select {named} from {rows}{joins}")
        rows = "joined"
    engine.execute(f"create view source as from {rows}")
    return {**columns, **added}


def _unpivot(engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns) -> Columns:
    """Make table `cells`: a row for each cell of a day that is neither empty nor 0."""
    wide = mapping.wide
    assert wide is not None
    days = {name: column for name, column in columns.items() if wide.columns.search(name)}
    kept = {name: column for name, column in columns.items() if name not in days}
    names = pa.table({"day": list(days.values()), "wide_name": list(days)})
    engine.register("days", names)
    engine.execute(
        "create table cells as select unpivoted.* exclude (day), wide_name from (unpivot raw on "
        f"{', '.join(days.values())} into name day value wide_value) unpivoted "
        "join days using (day) where not regexp_full_match(trim(wide_value), '[0., -]*')"
    )
    engine.unregister("days")
    engine.execute(
        "delete from cells where not mended and (file, row, wide_name) in "
        "(select (file, row, wide_name) from cells where mended)"
    )
    return {**kept, wide.name: "wide_name", wide.value: "wide_value"}
