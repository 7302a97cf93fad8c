"""Proposes a mapping from the whole of the files; CHECK marks what two readings are possible of.

It guesses, tries the guess on the rows as an import would, and says what that showed.
"""

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import yaml

from generators.importing.account import ALL_ROWS
from generators.importing.columns import is_clock, list_texts
from generators.importing.engine import open_scratch
from generators.importing.files import choose_encoding, guess_encoding, list_files, list_parts
from generators.importing.guessing import find_formats, guess, match_days
from generators.importing.mapping import Mapping, Rows
from generators.importing.numbers import weigh
from generators.importing.reading import Reader, read_lines
from generators.importing.rendering import NUMBERS, Column, Found, render_draft
from generators.importing.tables import read_json, read_tables
from infra.errors import UserError

TEXTS_MAX = 5_000
"""The most distinct texts of a column that are looked at; they come from all of the files."""
TIMES_TRIED = 200
OBJECT_IDS = ("id", "number", "name")
"""What names an object in JSON whose list holds the lines."""


def propose_mapping(*paths: Path) -> str:
    """A mapping in YAML for the files; CHECK marks what a person has to say. Raises UserError."""
    files = list_files(paths)
    found = study(files)
    drafted = "\n".join(render_draft(found, {})) + "\n"
    return "\n".join(render_draft(found, try_draft(drafted, files))) + "\n"


def study(files: Sequence[Path], each: str | None = None) -> Found:
    """What the files hold. `each`: the list in JSON whose elements are the rows; None: it is found
    by what its elements are called.
    """
    with TemporaryDirectory() as folder, closing(open_scratch(Path(folder))) as engine:
        reader = Reader(engine, "source", "c")
        try:
            encoding = _load(reader, files, each)
        except duckdb.Error as error:
            raise UserError(f"The files should hold rows that can be read, but: {error}") from error
        if not reader.columns:
            raise UserError("The files should hold a header and rows, but are empty")
        [[rows]] = engine.execute("select count(*) from source").fetchall()
        days = match_days(list(reader.columns))
        columns = {
            name: _study_column(engine, name, ident, rows)
            for name, ident in reader.columns.items()
            if not days or not re.search(days, name)
        }
        if each is None and (found := _find_list(files, columns)):
            return study(files, found)
        clocks = [name for name in columns if is_clock(engine, reader.columns[name])]
        guesses = _guess_fields(columns, clocks, wide=bool(days))
        if each is not None and (ids := [name for name in OBJECT_IDS if name in columns]):
            guesses.setdefault("receipt", ids[0])
        for field_name in NUMBERS:
            if guesses.get(field_name) in columns:
                name = guesses[field_name]
                columns[name].evidence = weigh(list_texts(engine, reader.columns[name]))
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        title = files[0].name + more
    return Found(title, rows, columns, clocks, encoding, days, guesses, each)


def _load(reader: Reader, files: Sequence[Path], each: str | None) -> tuple[str, str] | None:
    """Load the files. Returns the guessed encoding and a line in it, if one is not UTF-8."""
    encoding = None
    for part in list_parts(files):
        if part.format in ("csv", "json"):
            try:
                choose_encoding(part, encoding[0] if encoding else None)
            except UserError:
                encoding = guess_encoding(part)
        how = Rows(encoding=encoding[0] if encoding else None, each=each)
        for table in read_tables(part, how):
            reader.load(table.label, table.batches)
    return encoding


def _find_list(files: Sequence[Path], columns: dict[str, Column]) -> str | None:
    """The list of objects in JSON whose objects have most fields of a line; None: there is none."""
    if any(part.format != "json" for part in list_parts(files)):
        return None
    found = {}
    for column in columns.values():
        lists = (read_json(text) for text in column.texts if text.startswith("[{"))
        objects: list[Any] = next((each for each in lists if isinstance(each, list)), [{}])
        if "sku" in (named := guess(list(objects[0]))):
            found[column.name] = len(named)
    return max(found, key=lambda name: found[name], default=None)


def _guess_fields(
    columns: dict[str, Column], clocks: Sequence[str], *, wide: bool
) -> dict[str, str]:
    """Columns by field: by their names, and the time by what a column holds."""
    guesses = guess([name for name in columns if name not in clocks] or list(columns))
    for column in columns.values() if "time" not in guesses and not wide else ():
        texts = list(column.texts)[:TIMES_TRIED]
        if column.name not in guesses.values() and find_formats(texts):
            guesses["time"] = column.name
            break
    return guesses


def _study_column(engine: duckdb.DuckDBPyConnection, name: str, ident: str, rows: int) -> Column:
    [[filled, distinct]] = engine.execute(
        f"select count({ident}), count(distinct {ident}) from source"
    ).fetchall()
    texts = engine.execute(
        f"select {ident}, count(*) from source where {ident} is not null group by 1 "
        f"order by hash({ident}) limit {TEXTS_MAX}"
    ).fetchall()
    return Column(name, rows, filled, dict(texts), distinct)


def try_draft(text: str, files: Sequence[Path]) -> dict[str, str]:
    """What an import by the draft would show, by the key that it is about."""
    try:
        mapping = Mapping.model_validate(yaml.safe_load(text))
        with TemporaryDirectory() as folder, closing(open_scratch(Path(folder))) as engine:
            read_lines(engine, mapping, files, lambda _: None)
            return {key: note for key, query in TRIALS.items() if (note := _ask(engine, query))}
    except UserError as error:
        return {"failed": " ".join(str(error).split())}


def _ask(engine: duckdb.DuckDBPyConnection, query: str) -> str | None:
    notes = engine.execute(query).fetchall()
    return str(notes[0][0]) if notes and notes[0][0] else None


BY_NUMBER = "from taken where numbered and kind <> 'adjustment' group by key"
TRIALS = {
    "days": "select case when count(*) > 0 then format('{} numbers come on several days, such as "
    "{}; if they begin again, restarts: day, month or year', count(*), min(key)) end from "
    f"(select key {BY_NUMBER}, store having max(local)::date > min(local)::date)",
    "stores": "select case when count(*) > 0 then format('{} numbers are in several stores, such "
    "as {}: they are several receipts', count(*), min(key)) end from "
    f"(select key {BY_NUMBER} having count(distinct store) > 1)",
    "tills": "select case when count(*) > 0 then format('{} numbers are of several tills or "
    "customers, such as {}; name in `by` what makes a receipt one', count(*), min(key)) end from "
    f"(select key {BY_NUMBER}, store, local::date having count(distinct register_id) > 1 or "
    "count(distinct customer) > 1)",
    "blank": "select case when count(*) > 0 then format('{} rows have no number: each is a receipt "
    "of its own', count(*)) end from taken where not numbered "
    "having count(*) < (select count(*) from taken)",
    "total": f"select format('{{:,.2f}}', {ALL_ROWS}::double / 1e9) from taken",
    "rows": "select format('{:,} rows, {:,} of them refused', count(*), count(fault)) from taken",
    "faults": "select string_agg(format('{} × {}', n, fault), '; ') from (select fault, "
    "count(*) as n from taken where fault is not null group by 1 order by 2 desc limit 3)",
    "losses": "select nullif(count(*), 0) from taken where units < 0 and kind <> 'refund'",
    "free": "select nullif(count(*), 0) from taken "
    "where kind = 'refund' and coalesce(price_cents, 0) = 0",
}
"""Questions to the rows of a draft; an answer is a note, nothing is none."""
