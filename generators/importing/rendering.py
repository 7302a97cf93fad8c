"""Renders what was found in the files as a mapping in YAML, with CHECK where a person looks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from generators.importing.numbers import Evidence, parse_number

SHOWN, GOODS_SHOWN = 3, 8
MANY_ROWS_MIN = 20
WORDS = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
"""What YAML takes for something else than a text."""
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

    def get(self, name: str) -> Column | None:
        return self.columns.get(self.guesses.get(name, ""))


def render_draft(found: Found, tried: dict[str, str]) -> Iterator[str]:
    wide = found.days is not None
    yield f"# A first mapping for {found.title}. Lines with CHECK need a person."
    yield f"# {found.rows:,} rows. What the columns hold:"
    for column in found.columns.values():
        counts = f"{column.filled:,} filled, {column.distinct:,} distinct"
        yield f"#   {column.name}: {counts}: {_show(column)}"
    if tried:
        yield f"# Tried as it stands: {tried.get('rows') or 'CHECK: ' + tried['failed']}."
        if "faults" in tried:
            yield f"# CHECK: {tried['faults']}"
    if wide:
        yield f"wide: {{columns: '{found.days}', name: day, value: units}}"
        yield "# CHECK: if a second file says which day a column is, name it here, and then its"
        yield "# column in `time`; likewise for prices:"
        yield "# lookups:"
        yield "#   - {file: calendar.csv, match: {d: day}}"
    yield from _render_rows(found)
    yield from _render_time(found, wide=wide)
    yield from _render_receipt(found, tried, wide=wide)
    yield from _render_signs(found, tried)
    yield from _render_fields(found, tried, wide=wide)
    currency = _find_currency(found)
    yield f"money: {{currency: {currency}, decimals: 2, rounding: half-up}}  # CHECK"
    named = [
        f"{name}: {quote_name(found.guesses[name])}"
        for name in ("name", "category")
        if name in found.guesses
    ]
    yield f"products: {{{', '.join(named)}}}"
    yield "opening_stock: covering  # the least with which no shelf of the files runs below zero"


def _show(column: Column) -> str:
    texts = sorted(column.texts, key=lambda text: -column.texts[text])[:SHOWN]
    return " · ".join(" ".join(text.split())[:30] for text in texts)


def _check(doubts: Iterable[str]) -> str:
    """The doubts as a comment behind a key; nothing without any."""
    joined = "; ".join(doubts)
    return f"  # CHECK: {joined}" if joined else ""


def _render_rows(found: Found) -> Iterator[str]:
    lines = []
    if found.encoding:
        encoding, example = found.encoding
        shown = "".join(letter for letter in example if letter.isprintable())
        lines.append(f"  encoding: {encoding}  # CHECK: reads as {shown}")
    columns = [column for name in NUMBERS if (column := found.get(name)) is not None]
    seen = {column.name: column.evidence for column in columns if column.evidence is not None}
    signs = {evidence.sign for evidence in seen.values()} - {None}
    unclear = {
        name: evidence
        for name, evidence in seen.items()
        if evidence.is_mixed or (evidence.either and not evidence.sign and len(signs) != 1)
    }
    if unclear:
        stated = {**{name: e.sign for name, e in seen.items() if e.sign == ","}, **unclear}
        named = [f'{quote_name(name)}: "{seen[name].sign or "."}"' for name in stated]
        doubts = (_explain(found.columns[name], evidence) for name, evidence in unclear.items())
        lines.append(f"  decimal: {{{', '.join(named)}}}{_check(doubts)}")
    elif signs == {","}:
        lines.append('  decimal: ","')
    if lines:
        yield "rows:"
        yield from lines


def _doubt_goods(found: Found) -> Iterator[str]:
    columns = [column for name in ("sku", "name") if (column := found.get(name)) is not None]
    odd = [
        f"{text} in {rows} rows"
        for column in columns
        for text, rows in column.texts.items()
        if NO_GOODS.fullmatch(text)
    ]
    if odd:
        skip = f"rows: {{skip: {{{quote_name(columns[0].name)}: […]}}}}"
        yield f"{', '.join(odd[:GOODS_SHOWN])}: if these are no goods: {skip}"


def _doubt_ids(found: Found, name: str) -> Iterator[str]:
    """What may be wrong with the ids of a field."""
    column = found.get(name)
    if column is None:
        return
    if float_text := next((text for text in column.texts if re.fullmatch(r"\d+\.0", text)), None):
        yield f"{float_text} is read as {float_text[:-2]}"
    if alike := _find_alike(column.texts):
        yield f"{' and '.join(alike)} are several, as they are written"
    for text in [text for text in column.texts if re.fullmatch(ROUNDED, text)][:1]:
        yield f"{text} was rounded by a spreadsheet; such rows are refused"
    for text, rows in column.texts.items() if name == "customer" else ():
        if rows > max(MANY_ROWS * found.rows, MANY_ROWS_MIN):
            nobody = ", ".join(f"'{word}'" for word in (text, *NOTHING))
            yield f"{text} has {rows:,} rows; if it is nobody: rows: {{nothing: [{nobody}]}}"


def _explain(column: Column, evidence: Evidence) -> str:
    sums = {
        sign: sum(
            (
                n.value * rows
                for text, rows in column.texts.items()
                if (n := parse_number(text, sign))
            ),
            start=0,
        )
        for sign in (".", ",")
    }
    shown = [
        text
        for texts in (evidence.examples.get(key, []) for key in ("either", ".", ","))
        for text in texts
    ]
    texts = " · ".join(shown[:SHOWN])
    return f'{texts}: with "." the column comes to {sums["."]:f}, with "," to {sums[","]:f}'


def _find_alike(texts: Iterable[str]) -> list[str]:
    """Texts that differ only in case, in blanks or by zeros before them."""
    seen: dict[str, str] = {}
    for text in texts:
        other = seen.setdefault(text.casefold().replace(" ", "").lstrip("0"), text)
        if other != text:
            return [other, text]
    return []


def _find_currency(found: Found) -> str:
    """The currency whose sign most prices have; by default the euro."""
    priced = found.get("amount") or found.get("unit_price")
    texts = priced.texts if priced else ()
    signs = Counter(sign for text in texts if (sign := re.sub(r"[^€£$₹R]", "", text)))
    return CURRENCIES.get(max(signs, key=lambda sign: signs[sign], default=""), "EUR")


def _render_time(found: Found, *, wide: bool) -> Iterator[str]:
    yield "time:"
    column = found.get("time")
    if column is None:
        yield "  column: " + (
            "day  # CHECK: a day column's name, or the column of a lookup"
            if wide
            else "CHECK  # no column looks like a time"
        )
        if wide:
            yield '  at: "12:00"'
    else:
        texts = list(column.texts)
        forms = find_formats(texts) or find_formats(texts, MANY)
        has_clock = any(
            (moment := read_with(text, form)) and moment.has_clock
            for form in forms[:1]
            for text in texts
        )
        beside = found.clocks if not has_clock else []
        if beside:
            also = f"  # CHECK: or {', '.join(beside[1:])}" if beside[1:] else ""
            yield f"  column: [{quote_name(column.name)}, {quote_name(beside[0])}]{also}"
        else:
            yield f"  column: {quote_name(column.name)}"
        yield from _render_formats(texts, forms)
        if not has_clock and not beside:
            yield '  at: "12:00"  # the files say the day only'
    yield "  zone: UTC  # CHECK: where the clock hangs, such as Europe/London"


def _render_formats(texts: Sequence[str], forms: Sequence[str | None]) -> Iterator[str]:
    if not forms:
        yield '  format: "%Y-%m-%d"  # CHECK: such as ' + (texts[0] if texts else "nothing")
        return
    first, *rest = [form for form in forms if form is not None or forms[0] is None]
    differ = [form for form in rest if _span(texts, form) != _span(texts, first)]
    also = "".join(
        f" or {form}: {_span(texts, form)}, not {_span(texts, first)};" for form in differ
    )
    check = f"  # CHECK:{also.rstrip(';')}" if also else ""
    others = find_others(texts, first)
    if others and None not in (first, *others):
        yield f'  format: ["{first}", "{others[0]}"]{check}'
    elif first is not None:
        yield f'  format: "{first}"{check}'


def _span(texts: Sequence[str], form: str | None) -> str:
    moments = sorted(moment.local for text in texts if (moment := read_with(text, form)))
    days = (f"{moment:%Y-%m-%d}" for moment in (moments[0], moments[-1]))
    return " to ".join(days)


def _render_receipt(found: Found, tried: dict[str, str], *, wide: bool) -> Iterator[str]:
    name = found.guesses.get("receipt")
    if name is None:
        if wide:
            yield "receipt: {by: [day], lines_max: 200}  # CHECK: one receipt a day and store"
        else:
            yield "# CHECK: no column looks like a receipt's number: every row is a receipt"
        return
    doubts = [tried[key] for key in ("blank", "days", "stores", "tills") if key in tried]
    yield f"receipt: {{by: [{quote_name(name)}]}}{_check([*_doubt_ids(found, 'receipt'), *doubts])}"


def _render_signs(found: Found, tried: dict[str, str]) -> Iterator[str]:
    receipt, units, price = (found.get(name) for name in ("receipt", "units", "unit_price"))
    texts = list(receipt.texts) if receipt else []
    letters = {text[0] for text in texts if re.fullmatch(r"[A-Za-z][0-9]+", text)}
    negative = _count_negative(units)
    kinds = {
        column.name: [text for text in column.texts if REFUNDS.search(text)]
        for column in found.columns.values()
        if 1 < column.distinct <= 12 and column.name not in found.guesses.values()
    }
    kinds = {
        name: values
        for name, values in kinds.items()
        if values and len(values) < len(found.columns[name].texts)
    }
    doubts: list[str] = []
    if "free" in tried:
        doubts = [f"{tried['free']} refunds are of nothing; if losses: corrections: damage"]
    if receipt and len(letters) == 1 and any(text.isdigit() for text in texts):
        sign = f"{{column: {quote_name(receipt.name)}, prefix: {letters.pop()}}}"
        yield f"cancelled: {sign}{_check(doubts)}"
    elif kinds:
        [name, values] = next(iter(kinds.items()))
        counted = ", ".join(f"{text} {rows}" for text, rows in found.columns[name].texts.items())
        sign = f"{{column: {quote_name(name)}, values: [{', '.join(map(quote_name, values))}]}}"
        yield f"cancelled: {sign}{_check([f'its values are {counted}', *doubts])}"
    elif negative or _count_negative(price):
        also = ", negative_price: true" if _count_negative(price) else ""
        doubts = [f"{negative} rows have negative units", *doubts]
        yield f"cancelled: {{negative_units: true{also}}}{_check(doubts)}"
    if "losses" in tried:
        doubt = f"{tried['losses']} rows have negative units and are no refunds"
        yield f"corrections: damage  # CHECK: {doubt}"


def _count_negative(column: Column | None) -> int:
    texts = column.texts.items() if column else ()
    return sum(rows for text, rows in texts if re.search(r"^\s*[-(−]|-\s*$", text))


def _render_fields(found: Found, tried: dict[str, str], *, wide: bool) -> Iterator[str]:
    guesses, units = found.guesses, found.get("units")
    yield "fields:"
    doubts = [*_doubt_ids(found, "sku"), *_doubt_goods(found)]
    yield f"  sku: {quote_name(guesses.get('sku'))}{_check(doubts)}"
    has_parts = units is not None and any(FRACTION.search(text) for text in units.texts)
    doubt = _check(["they have decimals; say what they are of"] if has_parts else [])
    yield f"  units: {'units' if wide else quote_name(guesses.get('units'))}{doubt}"
    if has_parts:
        yield "  # measure: {value: kilogram}"
    yield from _render_price(found, tried)
    if "store" in guesses:
        doubt = _check(_doubt_ids(found, "store"))
        yield f"  store: {quote_name(guesses['store'])}{doubt}"
    else:
        yield "  store: {value: MAIN}  # CHECK: no column looks like a store"
    for name in ("customer", "cashier", "register_id", "card"):
        if name in guesses:
            yield f"  {name}: {quote_name(guesses[name])}{_check(_doubt_ids(found, name))}"


def _render_price(found: Found, tried: dict[str, str]) -> Iterator[str]:
    price = next((name for name in ("unit_price", "amount") if name in found.guesses), None)
    if price is None:
        yield '  unit_price: {value: "0"}  # CHECK: no column looks like a price'
        return
    name, doubts = found.guesses[price], []
    other = "amount" if price == "unit_price" else "unit_price"
    if price == "amount" or simplify(name) in ("price", "preis", "precio", "prix", "prezzo"):
        comes = f"all rows come to {tried['total']}; " if "total" in tried else ""
        doubts.append(f"{comes}if it is the {other}, write {other}")
    if "discount" in found.guesses:
        less = quote_name(found.guesses["discount"])
        doubts.append(f"if the line costs less by a column: discount: {less}")
    yield f"  {price}: {quote_name(name)}{_check(doubts)}"


def quote_name(column: str | None) -> str:
    if column is None:
        return "CHECK  # no column looks like it"
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", column) and column.lower() not in WORDS
    return column if plain else "'" + column.replace("'", "''") + "'"
