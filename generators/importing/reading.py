"""Files to lines: a row per line of a receipt, in a scratch database on disk.

Table `lines`: file, row, copy (which of the equal rows of its file it is), key (which receipt),
kind (receipt, refund, adjustment), happened (epoch milliseconds), store, sku, units, price_cents,
register_id, cashier, customer, card, name, category, fault. Units of a refund count what came back.
A fault says why the row cannot be read; all else may then be null.
Table `receipts`: key, issued (its first line's time), fault (the first of its lines').
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb

from generators.importing.mapping import BadMapping, Constant, Mapping, Source
from infra.errors import UserError

MEMORY_MAX = "768MB"  # what is beyond it is on disk
FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet"} | dict.fromkeys(
    (".jsonl", ".ndjson"), "json"
)
COMPRESSED = (".gz", ".zst")
FILE_COLUMN, ROW_COLUMN = "_file", "_row"
SAME = "happened, store, sku, _units, _money, register_id, cashier, customer, card, _by"
"""The columns that make two rows equal."""
COPY = f"row_number() over (partition by {SAME} order by {ROW_COLUMN})"

Report = Callable[[str], None]


class BadFile(UserError):
    """A file that cannot be read."""


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and for a folder all files in it that could be read, by name. Raises BadFile."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.is_file() and _find_format(one))
            if not inside:
                raise BadFile(
                    f"{path} should hold files that end in {_list_endings()}, but has none"
                )
            found += inside
        elif not path.is_file():
            raise BadFile(f"{path} should be a file or a folder to import, but there is none")
        elif _find_format(path) is None:
            raise BadFile(f"{path} should end in {_list_endings()}, which says how to read it")
        else:
            found.append(path)
    return found


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
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, files: Sequence[Path], report: Report
) -> int:
    """Fill the tables; returns how many rows were read. Raises BadFile and BadMapping."""
    rows = 0
    try:
        for number, file in enumerate(files):
            report(f"reading {file.name}")
            rows += _read_file(engine, mapping, file, files[0].parent, first=number == 0)
        report("grouping lines into receipts")
        _group(engine, len(files))
    except duckdb.Error as error:
        raise BadFile(f"The files should hold rows that can be read, but: {error}") from error
    return rows


def scan(file: Path, mapping: Mapping | None) -> str:
    """SQL for the file's rows, every column as text."""
    name = _quote(str(file))
    if _find_format(file) == "parquet":
        return f"read_parquet({name})"
    if _find_format(file) == "json":
        return f"read_json({name}, format = 'newline_delimited', ignore_errors = true)"
    rows = mapping.rows if mapping else None
    delimiter = f", delim = {_quote(rows.delimiter)}" if rows and rows.delimiter else ""
    encoding = rows.encoding if rows else "utf-8"
    return (
        f"read_csv({name}, header = true, all_varchar = true, null_padding = true,"
        f" strict_mode = false, parallel = false, encoding = '{encoding}'{delimiter})"
    )


def list_columns(engine: duckdb.DuckDBPyConnection, relation: str) -> list[str]:
    return [row[0] for row in engine.execute(f"describe from {relation}").fetchall()]


def _read_file(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, file: Path, beside: Path, *, first: bool
) -> int:
    rows = f"(select {_quote(file.name)} as {FILE_COLUMN}, row_number() over () as {ROW_COLUMN},"
    source = f"{rows} columns(*)::varchar from {scan(file, mapping)})"
    if mapping.wide is not None:
        wide = mapping.wide
        days = f"columns({_quote(wide.columns)})"
        if not any(_matches(engine, wide.columns, name) for name in list_columns(engine, source)):
            raise BadMapping(
                f"wide.columns: expected columns that match {wide.columns}, "
                f"found {', '.join(list_columns(engine, source))[:200]}"
            )
        source = (
            f"(select * from (unpivot {source} on {days} into name {_quote_name(wide.name)} "
            f"value {_quote_name(wide.value)}) "
            f"where try_cast({_quote_name(wide.value)} as double) <> 0)"
        )
    for number, lookup in enumerate(mapping.lookups):
        named = f"lookup_{number}"
        source = _join(engine, source, named, beside / lookup.file, lookup.match, mapping)
    _check_columns(mapping, list_columns(engine, source))
    verb = "create table lines as" if first else "insert into lines"
    before = 0 if first else _count(engine)
    engine.execute(f"{verb} {_select_lines(mapping, source)}")
    return _count(engine) - before


def _join(
    engine: duckdb.DuckDBPyConnection,
    source: str,
    name: str,
    file: Path,
    match: dict[str, str],
    mapping: Mapping,
) -> str:
    """SQL for the rows with the file's columns; it is read into the table of that name, once."""
    if not file.is_file():
        raise BadFile(f"lookups: expected a file {file}, found none")
    engine.execute(
        f"create table if not exists {_quote_name(name)} as "
        f"select columns(*)::varchar from {scan(file, mapping)}"
    )
    keys = ", ".join(_quote_name(theirs) for theirs in match)
    twice = engine.execute(
        f"select {keys} from {_quote_name(name)} group by all having count(*) > 1 limit 1"
    ).fetchone()
    if twice:
        raise BadFile(f"{file} should have one row for each {keys}, but has several for {twice}")
    condition = " and ".join(
        f"theirs.{_quote_name(theirs)} = ours.{_quote_name(ours)}" for theirs, ours in match.items()
    )
    taken = {*list_columns(engine, source)}
    new = [one for one in list_columns(engine, _quote_name(name)) if one not in taken]
    added = "".join(f", theirs.{_quote_name(one)}" for one in new)
    other = f"{_quote_name(name)} theirs on {condition}"
    return f"(select ours.*{added} from {source} ours left join {other})"


def _check_columns(mapping: Mapping, there: list[str]) -> None:
    lacking = sorted(set(_name_columns(mapping)) - set(there))
    if lacking:
        shown = ", ".join(one for one in there if one not in (FILE_COLUMN, ROW_COLUMN))[:300]
        raise BadMapping(
            f"The mapping names columns that the files lack: {', '.join(lacking)}. Found: {shown}"
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


def _select_lines(mapping: Mapping, source: str) -> str:
    """SQL for table `lines`."""
    fields, products = mapping.fields, mapping.products
    money = fields.unit_price if fields.amount is None else fields.amount
    price = "_money" if fields.amount is None else "(_money / nullif(_units, 0))"
    by = [f"coalesce({_quote_column(one)}, '')" for one in mapping.receipt.by]
    named = f"concat_ws('|', {', '.join(by)})" if by else "null::varchar"
    taken = f"""
        select {FILE_COLUMN}, {ROW_COLUMN}, {_render_number(fields.units, mapping)} as _units,
            {_render_number(money, mapping)} as _money, {_render_moment(mapping)} as happened,
            {_render_text(fields.store)} as store, {_render_text(fields.sku)} as sku,
            {_render_text(fields.register_id)} as register_id,
            {_render_text(fields.cashier)} as cashier,
            {_render_text(fields.customer)} as customer, {_render_text(fields.card)} as card,
            {_render_text(products.name)} as name, {_render_text(products.category)} as category,
            {_render_sign(mapping)} as _refund, {named} as _by
        from {source} raw where {_filter_rows(mapping)}"""
    refund = "_units < 0" if _is_signed_by_units(mapping) else "_refund"
    correction = "_units < 0" if mapping.corrections else "false"
    kinds = f"""
        select *, {price} as _price, {COPY} as copy, case when {refund} then 'refund'
            when {correction} then 'adjustment' else 'receipt' end as kind
        from ({taken})"""
    # A row without a receipt's number is told from its equals by how many came before.
    own = f"md5(concat_ws('|', {SAME})) || '-' || copy"
    units = "case kind when 'refund' then abs(_units) else _units end"
    return f"""
        select {FILE_COLUMN} as file, {ROW_COLUMN} as "row", copy, coalesce(_by, {own}) as key,
            kind, happened, store, sku, try_cast({units} as bigint) as units,
            {_render_cents(mapping)} as price_cents, register_id, cashier, customer, card, name,
            category,
            {_render_fault(mapping)} as fault
        from ({kinds})"""


def _filter_rows(mapping: Mapping) -> str:
    conditions = [
        f"coalesce(trim({_quote_column(column)}), '') not in ({', '.join(map(_quote, values))})"
        for column, values in mapping.rows.skip.items()
    ]
    if mapping.rows.skip_zero_units:
        conditions.append(f"coalesce({_render_number(mapping.fields.units, mapping)}, 1) <> 0")
    return " and ".join(conditions) or "true"


def _is_signed_by_units(mapping: Mapping) -> bool:
    return mapping.cancelled is not None and mapping.cancelled.negative_units


def _render_sign(mapping: Mapping) -> str:
    """SQL for whether a row says that it is a refund."""
    sign = mapping.cancelled
    if sign is None or sign.column is None:
        return "false"
    if sign.prefix is not None:
        return f"starts_with({_quote_column(sign.column)}, {_quote(sign.prefix)})"
    return f"trim({_quote_column(sign.column)}) in ({', '.join(map(_quote, sign.values or ()))})"


def _render_moment(mapping: Mapping) -> str:
    time, column = mapping.time, _quote_column(mapping.time.column)
    zone = _quote(time.zone)
    if time.formats:
        formats = ", ".join(map(_quote, time.formats))
        local = f"try_strptime({column}, [{formats}])"
    else:
        local = f"try_cast({column} as timestamp)"
    if time.at:
        local = f"(date_trunc('day', {local}) + interval '{time.at}:00')"
    at = f"timezone({zone}, {local})"
    if not time.formats and not time.at:
        offset = f"regexp_matches({column}, '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$')"
        with_time = f"regexp_matches({column}, ':') and {offset}"
        at = f"case when {with_time} then try_cast({column} as timestamptz) else {at} end"
    return f"epoch_ms({at})"


def _render_number(source: Source | None, mapping: Mapping) -> str:
    text = _render_text(source)
    if mapping.rows.decimal == ",":
        text = f"replace(replace({text}, '.', ''), ',', '.')"
    return f"try_cast({text} as decimal(28, 6))"


def _render_cents(mapping: Mapping) -> str:
    exact = f"_price * {10**mapping.money.decimals}"
    rounded = {
        "half-up": f"round({exact}, 0)",
        "half-even": f"round_even(({exact})::double, 0)",
        "down": f"trunc({exact})",
    }[mapping.money.rounding]
    return f"try_cast({rounded} as bigint)"


def _render_fault(mapping: Mapping) -> str:
    """SQL for the reason why a row cannot be read; null where it can."""
    expected = " or ".join(mapping.time.formats) or "ISO 8601"
    time = _quote(f"time: expected {expected}")
    return f"""case
        when store is null then 'store: expected one, found nothing'
        when sku is null then 'sku: expected one, found nothing'
        when happened is null then {time}
        when _units is null or _units <> trunc(_units) then 'units: expected a whole number'
        when _price is null and kind <> 'adjustment' then 'price: expected a number'
        end"""


def _group(engine: duckdb.DuckDBPyConnection, files: int) -> None:
    if files > 1:  # what two exports both hold is one row
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


def _render_text(source: Source | None) -> str:
    if source is None:
        return "null::varchar"
    if isinstance(source, Constant):
        return _quote(source.value)
    return f"nullif(trim({_quote_column(source)}), '')"


def _count(engine: duckdb.DuckDBPyConnection) -> int:
    [found] = engine.execute("select count(*) from lines").fetchone() or (0,)
    return int(found)


def _matches(engine: duckdb.DuckDBPyConnection, pattern: str, name: str) -> bool:
    try:
        [found] = engine.execute("select regexp_matches(?, ?)", [name, pattern]).fetchone() or (0,)
    except duckdb.Error as error:
        raise BadMapping(f"wide.columns: expected a regular expression, found {pattern}") from error
    return bool(found)


def _find_format(file: Path) -> str | None:
    name = Path(file.stem) if file.suffix in COMPRESSED else file
    return FORMATS.get(name.suffix.lower())


def _list_endings() -> str:
    return f"{', '.join(FORMATS)}, or with {' or '.join(COMPRESSED)} behind it"


def _quote_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quote_column(name: str) -> str:
    """A column of the files, in the statement that reads them."""
    return f"raw.{_quote_name(name)}"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
