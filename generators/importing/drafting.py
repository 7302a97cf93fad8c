"""Proposes a mapping from the header of a file and a sample of its rows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

import duckdb

from generators.importing.reading import list_columns, list_files, scan
from infra.errors import UserError

SAMPLE_ROWS = 2_000
MOST = 0.8
FRACTION = re.compile(r"[.,]\d*[1-9]\d*$")

FORMATS = (
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%Y%m%d",
)

WIDE_COLUMNS_MIN = 7
"""Columns that differ only in a number are taken for days if there are at least so many."""

NAMES: Mapping[str, str] = {
    "receipt": "invoiceno invoice receipt receiptid receiptno orderid transactionid ticket",
    "time": "invoicedate datetime timestamp time date orderdate soldat when",
    "sku": "stockcode sku itemid productid product item article upc",
    "units": "quantity qty units unitssold sales count pieces",
    "unit_price": "unitprice price sellprice itemprice",
    "amount": "amount linetotal total revenue salesamount",
    "store": "storeid store shop shopid branch outlet storenbr location",
    "customer": "customerid customer memberid client",
    "cashier": "cashierid cashier employee operator clerk",
    "register_id": "registerid register till pos terminal",
    "card": "cardtoken card cardid",
    "name": "description productname itemname name title",
    "category": "category catid family department deptid group",
}
"""Names of columns by field, in lower case without punctuation, the likeliest first."""


def propose_mapping(file: Path) -> str:
    """A mapping in YAML for the file; CHECK marks what the file does not show. Raises UserError."""
    [first, *_] = list_files([file])
    try:
        with closing(duckdb.connect()) as engine:
            relation = f"(select columns(*)::varchar from {scan(first, None)})"
            columns = list_columns(engine, relation)
            sample = engine.execute(f"select * from {relation} limit {SAMPLE_ROWS}").fetchall()
    except duckdb.Error as error:
        raise UserError(f"{first} should hold rows that can be read, but: {error}") from error
    values = {
        name: [str(row[position]) for row in sample if row[position]]
        for position, name in enumerate(columns)
    }
    return "\n".join(_render_lines(first, columns, values)) + "\n"


def _render_lines(
    file: Path, columns: Sequence[str], values: Mapping[str, Sequence[str]]
) -> Iterable[str]:
    days = match_days(columns)
    guesses = guess([name for name in columns if not days or not re.search(days, name)])
    yield f"# A first mapping for {file.name}. Lines with CHECK need a person."
    if days:
        yield f"wide: {{columns: '{days}', name: day, value: units}}"
        yield "# CHECK: if a second file says which day a column is, name it here, and then its"
        yield "# column in `time`; likewise for prices:"
        yield "# lookups:"
        yield "#   - {file: calendar.csv, match: {d: day}}"
    price = next((name for name in ("unit_price", "amount") if name in guesses), None)
    prices = values[guesses[price]] if price else ()
    if any(re.fullmatch(r"-?[0-9.]*,[0-9]+", text) for text in prices):
        yield 'rows: {decimal: ","}'
    yield from _render_time(guesses.get("time"), values, wide=bool(days))
    yield from _render_receipt(guesses, values, wide=bool(days))
    yield "fields:"
    yield f"  sku: {_quote(guesses.get('sku'))}"
    yield f"  units: {'units' if days else _quote(guesses.get('units'))}"
    if any(FRACTION.search(text) for text in values.get(guesses.get("units", ""), ())):
        yield "  # CHECK: units have decimals. Say by a column, or for all rows, what they are of:"
        yield "  # measure: {value: kilogram}"
    if price:
        yield f"  {price}: {_quote(guesses[price])}"
    else:
        yield '  unit_price: {value: "0"}  # CHECK: no column looks like a price'
    if "store" in guesses:
        yield f"  store: {_quote(guesses['store'])}"
    else:
        yield "  store: {value: MAIN}  # CHECK: no column looks like a store"
    for field in ("customer", "cashier", "register_id", "card"):
        if field in guesses:
            yield f"  {field}: {_quote(guesses[field])}"
    yield "money: {currency: EUR, decimals: 2, rounding: half-up}  # CHECK"
    described = [
        f"{field}: {_quote(guesses[field])}" for field in ("name", "category") if field in guesses
    ]
    yield f"products: {{{', '.join(described)}}}"
    yield "opening_stock: covering  # the least with which no shelf of the files runs below zero"


def _render_time(
    column: str | None, values: Mapping[str, Sequence[str]], *, wide: bool
) -> Iterable[str]:
    yield "time:"
    if column is None and wide:
        yield "  column: day  # CHECK: a day column's name, or the column of a lookup"
        yield '  at: "12:00"'
    elif column is None:
        yield "  column: CHECK  # no column looks like a time"
    else:
        yield f"  column: {_quote(column)}"
        sample = values[column]
        fits = [pattern for pattern in FORMATS if _fits(sample, pattern)]
        if fits:
            also = f"  # CHECK: or {' or '.join(fits[1:])}" if fits[1:] else ""
            yield f'  format: "{fits[0]}"{also}'
        elif not _fits(sample, None):
            yield '  format: "%Y-%m-%d"  # CHECK: such as ' + (sample[0] if sample else "nothing")
        if sample and not any(":" in text for text in sample):
            yield '  at: "12:00"  # the files say the day only'
    yield "  zone: UTC  # CHECK: where the clock hangs, such as Europe/London"


def _render_receipt(
    guesses: Mapping[str, str], values: Mapping[str, Sequence[str]], *, wide: bool
) -> Iterable[str]:
    column = guesses.get("receipt")
    if column is None:
        if wide:
            yield "receipt: {by: [day], lines_max: 200}  # CHECK: one receipt a day and store"
        return
    yield f"receipt: {{by: [{_quote(column)}]}}"
    letters = {text[0] for text in values[column] if re.fullmatch(r"[A-Za-z][0-9]+", text)}
    plain = any(text.isdigit() for text in values[column])
    if plain and len(letters) == 1:
        yield f"cancelled: {{column: {_quote(column)}, prefix: {letters.pop()}}}"
    elif any(text.startswith("-") for text in values.get(guesses.get("units", ""), ())):
        yield "cancelled: {negative_units: true}  # CHECK"


def _fits(texts: Sequence[str], pattern: str | None) -> bool:
    """Whether nearly all are times of this form, or of ISO 8601: a sample may hold faulty rows."""
    good = 0
    for text in texts:
        with suppress(ValueError):
            if pattern:
                datetime.strptime(text.strip(), pattern)  # noqa: DTZ007 - only whether it reads
            else:
                datetime.fromisoformat(text.strip())
            good += 1
    return bool(texts) and good >= MOST * len(texts)


def _quote(column: str | None) -> str:
    if column is None:
        return "CHECK  # no column looks like it"
    return column if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", column) else f"'{column}'"


def guess(columns: Sequence[str]) -> dict[str, str]:
    """The likeliest column for each field. No column is used twice; a field may have none."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(columns)}
    guesses: dict[str, str] = {}
    for field, names in NAMES.items():
        for name in names.split():
            if name in plain and plain[name] not in guesses.values():
                guesses[field] = plain[name]
                break
    if "unit_price" in guesses:
        guesses.pop("amount", None)
    return guesses


def match_days(columns: Sequence[str]) -> str | None:
    """A regular expression for the columns that are days; None if no columns are."""
    stems = Counter(re.sub(r"[0-9]+", "0", name) for name in columns)
    [(stem, count)] = stems.most_common(1)
    if count < WIDE_COLUMNS_MIN or "0" not in stem:
        return None
    return "^" + re.escape(stem).replace("0", "[0-9]+") + "$"
