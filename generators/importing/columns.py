"""Decides one rule per column, over all of its cells, and keeps what each of its texts means.

Table `number_C`, for a column C of table `source`: text, value, exact (whether value has all of its
decimals), percent. Table `times`: text (of the columns of the time, see `key_time`), happened
(epoch milliseconds), local (on the wall, in the mapping's zone).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta
from decimal import Decimal

import duckdb

from generators.importing.engine import keep, quote, stream
from generators.importing.mapping import Mapping
from generators.importing.numbers import Evidence, Sign, parse_number, weigh
from generators.importing.times import Clock, Moment, choose_clock, parse_time
from infra.errors import UserError

VALUE_MAX = Decimal(10) ** 12
DECIMALS_KEPT = 9
SEPARATOR = "\x1f"
NUMBER = {"text": "varchar", "value": "decimal(38, 9)", "exact": "boolean", "percent": "boolean"}
MOMENT = {"text": "varchar", "local": "timestamp", "is_instant": "boolean"}
Columns = dict[str, str]
"""The names of the files' columns, and those in table `source`."""


def interpret_numbers(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns
) -> dict[str, Sign]:
    """Fill the tables of numbers. Returns the decimal sign by column.

    Raises UserError where nobody can know the sign.
    """
    names = [name for name in mapping.list_numbers() if name in columns]
    found = {name: weigh(list_texts(engine, columns[name])) for name in names}
    signs = {name: choose_sign(mapping, name, found) for name in names}
    for name, sign in signs.items():
        careful = found[name].is_mixed and _find_stated(mapping, name) is None
        rows = _read_numbers(list_texts(engine, columns[name]), sign, careful=careful)
        keep(engine, f"number_{columns[name]}", rows, NUMBER)
    return signs


def list_texts(engine: duckdb.DuckDBPyConnection, column: str) -> Iterator[tuple[str, int]]:
    """The distinct texts of a column of `source` that are not empty, and their rows."""
    return stream(
        engine, f"select {column}, count(*) from source where trim({column}) <> '' group by 1"
    )


def choose_sign(mapping: Mapping, name: str, found: dict[str, Evidence]) -> Sign:
    """The decimal sign of a column: as stated, as its cells show it, or as the other columns do."""
    evidence, shown = found[name], {other.sign for other in found.values()} - {None}
    if (stated := _find_stated(mapping, name)) is not None:
        return stated
    if evidence.sign is not None or not evidence.counts["either"]:
        return evidence.sign or "."
    if len(shown) == 1:
        return shown.pop() or "."
    cell = evidence.examples["either"][0]
    by_point, by_comma = parse_number(cell, "."), parse_number(cell, ",")
    raise UserError(
        f"{name}: {cell} is {by_point and by_point.value:f} or "
        f"{by_comma and by_comma.value:f}, and no other cell says which. "
        f"The mapping should say it: rows: {{decimal: {{{name!r}: "
        "'.'}}} or ','"
    )


def _find_stated(mapping: Mapping, name: str) -> Sign | None:
    decimal = mapping.rows.decimal
    return decimal.get(name) if isinstance(decimal, dict) else decimal


def _read_numbers(
    texts: Iterable[tuple[str, int]], sign: Sign, *, careful: bool
) -> Iterator[tuple[str, ...]]:
    """Careful: in a mixed column, what the other sign reads otherwise is no number."""
    other: Sign = "," if sign == "." else "."
    for text, _ in texts:
        number = parse_number(text, sign)
        if number is None or abs(number.value) >= VALUE_MAX:
            continue
        if careful and parse_number(text, other) not in (None, number):
            continue
        exponent = number.value.as_tuple().exponent
        exact = isinstance(exponent, int) and -exponent <= DECIMALS_KEPT
        kept = number.value if exact else round(number.value, DECIMALS_KEPT)
        yield text, f"{kept:f}", str(exact), str(number.percent)


def key_time(columns: Columns, names: list[str]) -> str:
    """SQL for the text of a row's time in table `times`; null without one."""
    day, *clock = [columns[name] for name in names]
    return f"{day} || '{SEPARATOR}' || coalesce({clock[0]}, '')" if clock else day


def interpret_times(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns
) -> list[str]:
    """Fill table `times`. Returns the columns of the time: the mapping's, or with the one beside
    it that has the time of day. Raises UserError.
    """
    names = choose_time(engine, mapping, columns)
    key = key_time(columns, names)
    clocks = [text for name in names[1:] for text, _ in list_texts(engine, columns[name])]
    clock = choose_clock(clocks)
    knows_clock = len(names) > 1 or _has_clock(engine, mapping, columns[names[0]])
    rows = (
        (text, str(moment.local), str(moment.is_instant))
        for [text] in stream(engine, f"select distinct {key} from source where {key} <> ''")
        if (moment := _read_moment(text, mapping, clock, knows_clock=knows_clock)) is not None
    )
    keep(engine, "moments", rows, MOMENT)
    zone = quote(mapping.time.zone)
    engine.execute(
        f"create table times as select text, epoch_ms(instant) as happened, "
        f"timezone({zone}, instant) as local from (select text, "
        f"timezone(case when is_instant then 'UTC' else {zone} end, local) as instant "
        "from moments)"
    )
    return names


def choose_time(engine: duckdb.DuckDBPyConnection, mapping: Mapping, columns: Columns) -> list[str]:
    """The columns of the time: where the mapping's says the day only, the clock may be beside."""
    names = mapping.time.columns
    if len(names) > 1 or mapping.wide or _has_clock(engine, mapping, columns[names[0]]):
        return names
    used = {*mapping.list_columns()}
    beside = [name for name in columns if name not in used and is_clock(engine, columns[name])]
    if len(beside) > 1:
        raise UserError(
            f"time.column: {names[0]} says the day only, and {', '.join(beside)} have times of "
            f"day. The mapping should name one: time: {{column: [{names[0]!r}, {beside[0]!r}]}}"
        )
    return [*names, *beside]


def _has_clock(engine: duckdb.DuckDBPyConnection, mapping: Mapping, column: str) -> bool:
    """Whether any cell says more than a day; a midnight does not."""
    wanted = mapping.time
    moments = (
        parse_time(text, wanted.formats, wanted.since) for text, _ in list_texts(engine, column)
    )
    return any(
        moment is not None
        and moment.has_clock
        and (moment.is_instant or moment.local.time() != time())
        for moment in moments
    )


def is_clock(engine: duckdb.DuckDBPyConnection, column: str) -> bool:
    read = choose_clock(())
    some = False
    for text, _ in list_texts(engine, column):
        if ":" not in text or read(text) is None:
            return False
        some = True
    return some


def _read_moment(text: str, mapping: Mapping, clock: Clock, *, knows_clock: bool) -> Moment | None:
    wanted = mapping.time
    if not wanted.time_of_day and SEPARATOR not in text:
        return parse_time(text, wanted.formats, wanted.since)
    day, _, of_day = text.partition(SEPARATOR)
    if of_day and wanted.has_hours:
        return parse_time(f"{day} {of_day}", wanted.formats)
    moment = parse_time(day, wanted.formats, wanted.since)
    if moment is None:
        return None
    midnight = datetime.combine(moment.local, time())
    if SEPARATOR in text and (of_day.strip() or not wanted.time_of_day):
        passed = clock(of_day)
        return None if passed is None else Moment(midnight + passed, moment.is_instant)
    if wanted.time_of_day and not (knows_clock and moment.has_clock):
        hours, minutes = map(int, wanted.time_of_day.split(":"))
        return Moment(midnight + timedelta(hours=hours, minutes=minutes))
    return moment
