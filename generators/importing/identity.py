"""Which texts name nobody, which are the same, and what stands on a receipt's first row only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import duckdb

from generators.importing.columns import Columns
from generators.importing.engine import quote
from generators.importing.mapping import Constant, Mapping, Source
from generators.importing.numbers import Sign, parse_number
from infra.errors import UserError

BLANK = " \t\r\n\u00a0\u202f\ufeff"
ROUNDED = "[0-9]([.,][0-9]+)?[eE][+][0-9]+"
"""A long number as a spreadsheet writes it: its last digits are lost."""


@dataclass
class Names:
    """What was decided of the columns of table `source`."""

    columns: Columns
    floats: frozenset[str]
    """Columns of ids whose `.0` is no part of them."""
    worded: frozenset[str]
    """Columns that have words for nothing."""
    times: list[str] = field(default_factory=list)
    """The columns of the time."""
    signs: dict[str, Sign] = field(default_factory=dict)

    def render_text(self, source: Source | Sequence[str] | None) -> str:
        """SQL for the text, of several columns the first; null where it says nothing."""
        if isinstance(source, Constant):
            return quote(source.value)
        if source is None:
            return "null::varchar"
        if not isinstance(source, str):
            return f"coalesce({', '.join(map(self.render_text, source))})"
        column = self.columns[source]
        cleaned = f"clean({column})" if source in self.worded else column
        return f"regexp_replace({cleaned}, '[.]0$', '')" if source in self.floats else cleaned

    def render_number(self, source: Source | None, field: str = "value") -> str:
        """SQL for a field (value, exact, percent) of the number in a column."""
        if isinstance(source, str):
            return f"number_{self.columns[source]}.{field}"
        if field != "value":
            return "true" if field == "exact" and source else "false"
        number = parse_number(source.value, ".") if source else None
        if source and number is None:
            raise UserError(f"fields: expected a number as value, found {source.value}")
        return f"{number.value:f}::decimal(38, 9)" if number else "null::decimal(38, 9)"


def create_macros(engine: duckdb.DuckDBPyConnection, nothing: Sequence[str]) -> None:
    """SQL functions: `clean`, a text, null if it says nothing; `escape`, a part that can be joined
    to others by `-` and `|` after.
    """
    words = ", ".join(quote(word.strip().lower()) for word in nothing) or "''"
    engine.execute(
        f"create macro clean(cell) as case when lower(cell) in ({words}) then null else cell end"
    )
    parts = "replace(part, '~', '~~'), '|', '~|'), '-', '~-'"
    engine.execute(f"create macro escape(part) as replace(replace({parts})")
    engine.execute("create macro listed(part) as coalesce(escape(part::varchar), '~0')")


def study_texts(engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns) -> Names:
    """Look which columns have words for nothing, and which ids are all numbers, of which some were
    written as 13085.0.
    """
    numbers = set(mapping.list_numbers())
    names = [name for name in mapping.list_columns() if name in columns and name not in numbers]
    worded = _ask(engine, columns, names, "bool_or({0} is not null and clean({0}) is null)")
    ids = [name for name in names if name in list_ids(mapping)]
    with_zero = _ask(engine, columns, ids, "bool_or(ends_with({0}, '.0'))")
    numeric = "bool_and(regexp_full_match(clean({0}), '[0-9]+([.]0)?'))"
    return Names(columns, _ask(engine, columns, with_zero, numeric), worded)


def _ask(
    engine: duckdb.DuckDBPyConnection, columns: Columns, names: Iterable[str], question: str
) -> frozenset[str]:
    """The columns for which the aggregate is true."""
    asked = sorted(names)
    if not asked:
        return frozenset()
    questions = ", ".join(question.format(columns[name]) for name in asked)
    [answers] = engine.execute(f"select {questions} from source").fetchall()
    return frozenset(name for name, answer in zip(asked, answers, strict=True) if answer)


def list_ids(mapping: Mapping) -> list[str]:
    """The columns of keys and ids."""
    fields = mapping.fields
    skus = fields.sku if isinstance(fields.sku, list) else [fields.sku]
    people = (fields.customer, fields.card, fields.cashier, fields.register_id)
    named = (*mapping.receipt.by, fields.store, *skus, *people)
    return [*dict.fromkeys(source for source in named if isinstance(source, str))]


def repeat_from_first(engine: duckdb.DuckDBPyConnection, mapping: Mapping, names: Names) -> None:
    """Fill what stands on a receipt's first row only: its number, or its time and store.

    A row with neither number nor time, but with goods, belongs to the row above it.
    """
    fields, by, times = mapping.fields, mapping.receipt.by, mapping.time.columns
    shared = [*dict.fromkeys((*times, *([fields.store] if isinstance(fields.store, str) else [])))]
    numberless = f"({' or '.join(f'{names.render_text(name)} is null' for name in by)})"
    timeless = " and ".join(f"{names.render_text(name)} is null" for name in times)
    partly = " or ".join(f"{names.render_text(name)} is null" for name in shared)
    goods = " and ".join(
        f"{names.render_text(source)} is not null" for source in (fields.sku, fields.units)
    )
    follows = f"({numberless} and {timeless} and {goods})"
    lacks = f"(not {numberless} and ({partly}))"
    [[following, lacking]] = engine.execute(
        f"select count(*) filter ({follows}), count(*) filter ({lacks}) from source"
    ).fetchall()
    if following:
        head = f"count(*) filter (not {follows}) over (partition by file order by row) as head"
        first = "first_value({0}) over (partition by file, head order by row) as {0}"
        filled = ", ".join(first.format(names.columns[name]) for name in by)
        _replace(
            engine,
            "continued",
            f"select * exclude (head) replace ({filled}) from (select *, {head} from source)",
        )
    if following or lacking:
        whole = f"partition by file, {', '.join(map(names.render_text, by))} order by row"
        fill = ", ".join(
            f"case when {numberless} then {names.columns[name]} else "
            f"coalesce({names.render_text(name)}, "
            f"last_value({names.render_text(name)} ignore nulls) over ({whole}), "
            f"first_value({names.render_text(name)} ignore nulls) over ({whole} "
            f"rows between current row and unbounded following)) end as {names.columns[name]}"
            for name in shared
        )
        _replace(engine, "repeated", f"select * replace ({fill}) from source")


def _replace(engine: duckdb.DuckDBPyConnection, table: str, query: str) -> None:
    engine.execute(f"create table {table} as {query}")
    engine.execute(f"create or replace view source as from {table}")
