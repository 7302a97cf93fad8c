"""Renders what was found in the files as a mapping in YAML, with CHECK where a person looks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from generators.importing.guessing import (
    CURRENCIES,
    MANY,
    find_formats,
    find_others,
    read_with,
    simplify,
)
from generators.importing.identity import ROUNDED
from generators.importing.mapping import NOTHING
from generators.importing.numbers import SIGNS, Evidence, parse_number

SHOWN, GOODS_SHOWN = 3, 8
MANY_ROWS_MIN = 20
KINDS_MAX = 12
WORDS = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
"""What YAML takes for something else than a text."""
CLOCK_NAMES = re.compile(r"\b(time|clock|hour|uhrzeit|zeit|heure|hora|ora|tijd|klockan)\b", re.I)
YES = frozenset(("yes", "y", "true", "1", "x", "ja", "oui", "si", "sí"))
MANY_ROWS = 0.05
REFUNDS = re.compile(r"refund|return|retour|storno|rückgabe|devoluci|reso|credit|cancel", re.I)
NO_GOODS = re.compile(
    r"post(age)?|dot|shipping|versand|freight|delivery|gift.*|voucher|discount|rabatt|bank charges|"
    r"amazonfee|fee|adjust.*|test.*|tip|deposit|pfand|manual|b|cruk",
    re.I,
)
NUMBERS = ("units", "unit_price", "amount", "discount")
FRACTION = re.compile(r"[.,]\d*[1-9]\d*$")


@dataclass
class Column:
    """What a column holds."""

    name: str
    rows: int
    filled: int
    texts: dict[str, int]
    """Distinct texts and their rows: a sample of the whole column."""
    distinct: int
    evidence: Evidence | None = None


@dataclass
class Found:
    """What the files hold."""

    title: str
    rows: int
    columns: dict[str, Column]
    clocks: list[str]
    """Columns of times of day."""
    encoding: tuple[str, str] | None
    days: str | None
    guesses: dict[str, str] = field(default_factory=dict)
    each: str | None = None
    """The list in JSON whose elements are the rows."""

    def get(self, name: str) -> Column | None:
        return self.columns.get(self.guesses.get(name, ""))


def render_draft(found: Found, tried: dict[str, str]) -> Iterator[str]:
    yield f"# A first mapping for {found.title}. Lines with CHECK need a person."
    yield f"# {found.rows:,} rows. What the columns hold:"
    for column in found.columns.values():
        texts = sorted(column.texts, key=lambda text: -column.texts[text])[:SHOWN]
        shown = " · ".join(" ".join(text.split())[:30] for text in texts)
        yield f"#   {column.name}: {column.filled:,} filled, {column.distinct:,} distinct: {shown}"
    if tried:
        yield f"# Tried as it stands: {tried.get('rows') or 'CHECK: ' + tried['failed']}."
    if "faults" in tried:
        yield f"# CHECK: {tried['faults']}"
    if found.days:
        yield f"wide: {{columns: '{found.days}', name: day, value: units}}"
        yield "# CHECK: if a second file says which day a column is, name it here, and then its"
        yield "# column in `time`; likewise for prices:"
        yield "# lookups: [{file: calendar.csv, match: {d: day}}]"
    yield from _render_rows(found)
    yield from _render_time(found)
    yield from _render_receipt(found, tried)
    yield from _render_signs(found, tried)
    yield from _render_fields(found, tried)
    currency = _find_currency(found)
    yield f"money: {{currency: {currency}, decimals: 2, rounding: half-up}}  # CHECK"
    named = (name for name in ("name", "category") if name in found.guesses)
    products = (f"{name}: {quote_name(found.guesses[name])}" for name in named)
    yield f"products: {{{', '.join(products)}}}"
    yield "opening_stock: covering  # the least with which no shelf of the files runs below zero"


def _check(*doubts: str | None) -> str:
    """The doubts as a comment behind a key; nothing without any."""
    joined = "; ".join(filter(None, doubts))
    return f"  # CHECK: {joined}" if joined else ""


def _render_rows(found: Found) -> Iterator[str]:
    columns = [column for name in NUMBERS if (column := found.get(name)) is not None]
    seen = {column.name: column.evidence for column in columns if column.evidence is not None}
    signs = {evidence.sign for evidence in seen.values()} - {None}
    unclear = [
        name
        for name, evidence in seen.items()
        if evidence.is_mixed
        or (evidence.counts["either"] and not evidence.sign and len(signs) != 1)
    ]
    stated = [name for name, e in seen.items() if e.sign == "," or name in unclear]
    if found.encoding or stated or found.each:
        yield "rows:"
    if found.each:
        yield f"  each: {quote_name(found.each)}  # what its elements do not say, all of them have"
    if found.encoding:
        shown = "".join(filter(str.isprintable, found.encoding[1]))
        yield f"  encoding: {found.encoding[0]}{_check(f'reads as {shown}')}"
    if unclear:
        named = [f'{quote_name(name)}: "{seen[name].sign or "."}"' for name in stated]
        doubts = (_explain(found.columns[name], seen[name]) for name in unclear)
        yield f"  decimal: {{{', '.join(named)}}}{_check(*doubts)}"
    elif stated:
        yield '  decimal: ","'


def _explain(column: Column, evidence: Evidence) -> str:
    """Some cells of a column, and what it comes to by each sign."""
    point, comma = (
        sum(
            number.value * rows
            for text, rows in column.texts.items()
            if (number := parse_number(text, sign)) is not None
        )
        for sign in SIGNS
    )
    cells = [text for key in ("either", *SIGNS) for text in evidence.examples.get(key, [])]
    shown = " · ".join(cells[:SHOWN])
    return f'{shown}: with "." the column comes to {point:f}, with "," to {comma:f}'


def _doubt_goods(found: Found) -> str | None:
    columns = [column for name in ("sku", "name") if (column := found.get(name)) is not None]
    odd = [
        f"{text} in {rows} rows"
        for column in columns
        for text, rows in column.texts.items()
        if NO_GOODS.fullmatch(text)
    ]
    skip = f"rows: {{skip: {{{quote_name(columns[0].name)}: […]}}}}" if odd else ""
    return f"{', '.join(odd[:GOODS_SHOWN])}: if these are no goods: {skip}" if odd else None


def _doubt_ids(found: Found, name: str) -> Iterator[str]:
    """What may be wrong with the ids of a field."""
    texts = column.texts if (column := found.get(name)) else {}
    for text in [text for text in texts if re.fullmatch(r"\d+\.0", text)][:1]:
        yield f"{text} is read as {text[:-2]}"
    seen: dict[str, str] = {}
    alike = (
        (seen.setdefault(text.casefold().replace(" ", "").lstrip("0"), text), text)
        for text in texts
    )
    for first, text in [pair for pair in alike if pair[0] != pair[1]][:1]:
        yield f"{first} and {text} are several, as they are written"
    for text in [text for text in texts if re.fullmatch(ROUNDED, text)][:1]:
        yield f"{text} was rounded by a spreadsheet; such rows are refused"
    for text, rows in texts.items() if name == "customer" else ():
        if rows > max(MANY_ROWS * found.rows, MANY_ROWS_MIN):
            nobody = ", ".join(f"'{word}'" for word in (text, *NOTHING))
            yield f"{text} has {rows:,} rows; if it is nobody: rows: {{nothing: [{nobody}]}}"


def _find_currency(found: Found) -> str:
    """The currency whose sign most prices have; by default the euro."""
    priced = found.get("amount") or found.get("unit_price")
    texts = priced.texts if priced else ()
    signs = Counter(sign for text in texts if (sign := re.sub(r"[^€£$₹R]", "", text)))
    return CURRENCIES.get(max(signs, key=lambda sign: signs[sign], default=""), "EUR")


def _render_time(found: Found) -> Iterator[str]:
    yield "time:"
    column = found.get("time")
    if column is None and found.days:
        yield "  column: day  # CHECK: a day column's name, or the column of a lookup"
        yield '  at: "12:00"'
    elif column is None:
        yield "  column: CHECK  # no column looks like a time"
    else:
        texts = list(column.texts)
        forms = find_formats(texts) or find_formats(texts, MANY)
        moments = [read_with(text, form) for form in forms[:1] for text in texts]
        has_clock = any(moment is not None and moment.has_clock for moment in moments)
        beside = [] if has_clock else [*map(quote_name, found.clocks)]
        also = _check(f"or {', '.join(beside[1:])}" if beside[1:] else None)
        named = ", ".join([quote_name(column.name), *beside[:1]])
        yield f"  column: [{named}]{also}" if beside else f"  column: {named}"
        yield from _render_formats(texts, forms)
        if not has_clock and not beside:
            yield f'  at: "12:00"  # {_doubt_day(found, column)}'
    yield "  zone: UTC  # CHECK: where the clock hangs, such as Europe/London"


def _doubt_day(found: Found, day: Column) -> str:
    """Whether the files say the day only: a column may be named as a clock is."""
    for column in found.columns.values():
        if column is not day and CLOCK_NAMES.search(column.name) and column.texts:
            shown = f"such as {next(iter(column.texts))} (%Hh%M, %H%M%S, …)"
            names = f"[{quote_name(day.name)}, {quote_name(column.name)}]"
            return f"CHECK: if {column.name} says when: column: {names} and a format, {shown}"
    return "the files say the day only"


def _render_formats(texts: Sequence[str], forms: Sequence[str | None]) -> Iterator[str]:
    if not forms:
        yield f'  format: "%Y-%m-%d"{_check(f"such as {texts[0]}" if texts else "nothing")}'
    elif (first := forms[0]) is not None:
        days = _span(texts, first)
        differ = {form: _span(texts, form) for form in forms[1:] if form is not None}
        doubts = [f"or {form}: {span}, not {days}" for form, span in differ.items() if span != days]
        others = [form for form in find_others(texts, first) if form]
        formats = ", ".join(f'"{form}"' for form in (first, *others))
        yield f"  format: {f'[{formats}]' if others else formats}{_check(*doubts)}"


def _span(texts: Sequence[str], form: str | None) -> str:
    moments = sorted(moment.local for text in texts if (moment := read_with(text, form)))
    return f"{moments[0]:%Y-%m-%d} to {moments[-1]:%Y-%m-%d}"


def _render_receipt(found: Found, tried: dict[str, str]) -> Iterator[str]:
    if "receipt" in found.guesses:
        doubts = map(tried.get, ("blank", "days", "stores", "tills"))
        checked = _check(*_doubt_ids(found, "receipt"), *doubts)
        yield f"receipt: {{by: [{quote_name(found.guesses['receipt'])}]}}{checked}"
    elif found.days:
        yield "receipt: {by: [day], lines_max: 200}  # CHECK: one receipt a day and store"
    else:
        yield "# CHECK: no column looks like a receipt's number: every row is a receipt"


def _render_signs(found: Found, tried: dict[str, str]) -> Iterator[str]:
    receipt = found.get("receipt")
    numbers = list(receipt.texts) if receipt else []
    letters = {text[0] for text in numbers if re.fullmatch(r"[A-Za-z][0-9]+", text)}
    units, price = (_count_negative(found.get(name)) for name in ("units", "unit_price"))
    free = tried.get("free")
    free = free and f"{free} refunds are of nothing; if losses: corrections: damage"
    kinds = {
        column.name: values
        for column in found.columns.values()
        if (values := _find_refunds(column)) and column.name not in found.guesses.values()
    }
    if receipt and len(letters) == 1 and any(map(str.isdigit, numbers)):
        sign = f"column: {quote_name(receipt.name)}, prefix: {letters.pop()}"
        yield f"cancelled: {{{sign}}}{_check(free)}"
    elif kinds:
        [name, values] = next(iter(kinds.items()))
        counted = ", ".join(f"{text} {rows}" for text, rows in found.columns[name].texts.items())
        sign = f"column: {quote_name(name)}, values: [{', '.join(map(quote_name, values))}]"
        yield f"cancelled: {{{sign}}}{_check(f'its values are {counted}', free)}"
    elif units or price:
        sign = "negative_units: true" + (", negative_price: true" if price else "")
        yield f"cancelled: {{{sign}}}{_check(f'{units} rows have negative units', free)}"
    if "losses" in tried:
        doubt = f"{tried['losses']} rows have negative units and are no refunds"
        yield f"corrections: damage{_check(doubt)}"


def _find_refunds(column: Column) -> list[str]:
    """The values of a column of few that mark refunds; none if they are all that it has."""
    asks = bool(REFUNDS.search(column.name))
    values = [
        text
        for text in column.texts
        if REFUNDS.search(text) or (asks and text.strip().lower() in YES)
    ]
    return values if column.distinct <= KINDS_MAX and len(values) < len(column.texts) else []


def _count_negative(column: Column | None) -> int:
    texts = column.texts.items() if column else ()
    return sum(rows for text, rows in texts if re.search(r"^\s*[-(−]|-\s*$", text))


def _render_fields(found: Found, tried: dict[str, str]) -> Iterator[str]:
    guesses, units = found.guesses, found.get("units")
    yield "fields:"
    doubts = [*_doubt_ids(found, "sku"), _doubt_goods(found)]
    yield f"  sku: {quote_name(guesses.get('sku'))}{_check(*doubts)}"
    has_parts = units is not None and any(FRACTION.search(text) for text in units.texts)
    doubt = _check("they have decimals; say what they are of" if has_parts else None)
    yield f"  units: {'units' if found.days else quote_name(guesses.get('units'))}{doubt}"
    if has_parts:
        yield "  # measure: {value: kilogram}"
    yield _render_price(found, tried)
    if "store" not in guesses:
        yield "  store: {value: MAIN}  # CHECK: no column looks like a store"
    for name in ("store", "customer", "cashier", "register_id", "card"):
        if name in guesses:
            yield f"  {name}: {quote_name(guesses[name])}{_check(*_doubt_ids(found, name))}"


def _render_price(found: Found, tried: dict[str, str]) -> str:
    price = next((name for name in ("unit_price", "amount") if name in found.guesses), None)
    if price is None:
        return '  unit_price: {value: "0"}  # CHECK: no column looks like a price'
    name, doubts = found.guesses[price], []
    other = "amount" if price == "unit_price" else "unit_price"
    if price == "amount" or simplify(name) in ("price", "preis", "precio", "prix", "prezzo"):
        comes = f"all rows come to {tried['total']}; " if "total" in tried else ""
        doubts.append(f"{comes}if it is the {other}, write {other}")
    if "discount" in found.guesses:
        less = quote_name(found.guesses["discount"])
        doubts.append(f"if the line costs less by a column: discount: {less}")
    return f"  {price}: {quote_name(name)}{_check(*doubts)}"


def quote_name(column: str | None) -> str:
    if column is None:
        return "CHECK  # no column looks like it"
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", column) and column.lower() not in WORDS
    return column if plain else "'" + column.replace("'", "''") + "'"
