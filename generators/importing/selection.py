"""SQL for table `taken`, a row as the mapping reads it, and for table `lines`, made of it.

Table `taken`: file, row, copy (which of the equal rows of its file it is), key (which receipt),
numbered (whether the row has a receipt's number), kind, skipped (why the row is no sale), the
fields of `lines`, dearer (how many of its units cost a cent more, so that the row comes to its
amount; they are a line of their own), total_nanos (of the row, in billionths of the currency).
"""

import duckdb

from contracts.measures import MEASURES, UNITS_PER_MEASURE
from generators.importing.columns import key_time
from generators.importing.engine import quote
from generators.importing.identity import ROUNDED, Names
from generators.importing.mapping import (
    LINES_MAX,
    PIECE,
    SOLD_BY,
    Corrections,
    Mapping,
)

TOTAL = "(grand |sub-?)?(total|sum|summe|gesamt|gesamtsumme|somme|totale|suma|totaal)s?:?"
SAME = "happened, store, sku, units_read, money, register_id, cashier, customer, card, number"
"""The columns that make two rows equal."""
HOURS_MAX = 6
"""A receipt that goes on for longer, into another day, is a number that came again."""
RESTARTS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
AGAIN = (
    "receipt: expected rows of one visit, found one number on several days. Say in the mapping "
    "what makes a receipt one: receipt.by, and receipt.restarts: day, month, year or never"
)
SEVERAL = (
    "receipt: expected one {0}, found several under one number. Say in the mapping what makes a "
    "receipt one: receipt.by, receipt.restarts"
)
LETTERS = "case kind when 'receipt' then 'R' when 'refund' then 'B' else 'A' end"
"""The suffix of an event's id: a receipt and its refund may share an invoice number."""
ID_LENGTH_MAX = 64


def create_lines(engine: duckdb.DuckDBPyConnection, names: Names, mapping: Mapping) -> None:
    """Make the tables `taken` and `lines`."""
    lacking = " or ".join(f"{names.render_text(name)} is null" for name in mapping.receipt.by)
    [[files, unnumbered]] = engine.execute(
        f"select count(distinct file), bool_or({lacking or 'true'}) from source"
    ).fetchall()
    alone = files == 1 and not unnumbered  # then no row needs to be told from an equal one
    engine.execute(f"create table taken as {_select_taken(names, mapping, alone=alone)}")
    if isinstance(mapping.fields.measure, str):  # a sku's stock is one number
        engine.execute(
            "update taken set fault = 'measure: expected the same in all rows of a sku' "
            "where fault is null and sku in (select sku from taken where fault is null "
            "group by sku having count(distinct coalesce(measure, '')) > 1)"
        )
    engine.execute(f"create table lines as {_select_lines(mapping)}")


def _select_taken(names: Names, mapping: Mapping, *, alone: bool) -> str:
    fields, products, receipt = mapping.fields, mapping.products, mapping.receipt
    money = fields.unit_price if fields.amount is None else fields.amount
    joins = "".join(
        f" left join number_{column} on number_{column}.text = source.{column}"
        for column in (names.columns[name] for name in names.signs)
    )
    numbers = {
        "units_read": fields.units,
        "money": money,
        "discount": fields.discount,
        "receipt_discount": receipt.discount,
    }
    people = ("register_id", "cashier", "customer", "card")
    texts = {
        **{name: getattr(fields, name) for name in ("store", "sku", *people)},
        **{name: getattr(products, name) for name in ("name", "category")},
    }
    columns = {
        "day": "wide_name" if mapping.wide else "null::varchar",
        "row_fault": "source.fault",
        "skipped": _render_skip(names, mapping),
        **{name: names.render_number(source) for name, source in numbers.items()},
        "units_exact": names.render_number(fields.units, "exact"),
        "money_percent": names.render_number(money, "percent"),
        "discount_percent": names.render_number(fields.discount, "percent"),
        "discount_unread": _render_unread(names, mapping),
        "sold_by": _render_sold_by(names, mapping),
        **{name: names.render_text(source) for name, source in texts.items()},
        "is_cancelled": _render_signs(names, mapping),
        "correction": _render_correction(names, mapping),
        "number": _render_receipt(names, mapping),
    }
    selected = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    read = f"""
        select source.file, source.row, times.happened, times.local, {selected}
        from source{joins} left join times on times.text = {key_time(names.columns, names.times)}"""
    copy = "1" if alone else f"row_number() over (partition by file, {SAME} order by row)"
    kinds = f"""
        select *, {_render_kind(mapping)} as kind,
            (units_read * {UNITS_PER_MEASURE})::hugeint as milli,
            (money * 1000000000)::hugeint as nanos, number is not null as numbered,
            {copy} as copy
        from ({read})"""
    own = " || '|' || ".join(f"listed({column})" for column in SAME.split(", "))
    totals = f"""
        select *, coalesce(number, '~#' || md5({own}) || '.' || copy) as key,
            {_render_total(mapping)} as total_nanos from ({kinds})"""
    same = "store, kind, key, happened, sku, units_read, money, copy"
    twice = "false" if alone else f"file > min(file) over (partition by {same})"
    totals = f"select *, {twice} as twice from ({totals})"  # what several exports hold counts once
    if receipt.discount:
        totals = f"""
            select * replace (total_nanos - coalesce(abs(max(abs(receipt_discount)) over whole
                * 1000000000)::hugeint * total_nanos // nullif(sum(total_nanos) over whole, 0), 0)
                as total_nanos)
            from ({totals}) window whole as (partition by store, kind, key, twice)"""
    each = f"case sold_by when '{PIECE}' then 1 else {UNITS_PER_MEASURE} end"
    moved = "case when correction in ('damage', 'theft') then -abs(units_read) else units_read end"
    units = (
        "case kind when 'refund' then abs(units_read) "
        f"when 'adjustment' then {moved} else units_read end"
    )
    counted = f"""
        select * exclude (skipped), try_cast({units} * {each} as bigint) as units,
            nullif(sold_by, '{PIECE}') as measure,
            case when twice then 'is in another file too' else skipped end as skipped
        from ({totals})"""
    return f"""
        select file, row, day, copy, key, numbered, kind, correction, skipped, happened, local,
            store, sku, units, measure, dearer, price_cents, register_id, cashier, customer, card,
            name, category, total_nanos, {_render_fault(names, mapping)} as fault
        from ({_select_priced(counted, mapping)})"""


def _select_priced(counted: str, mapping: Mapping) -> str:
    """SQL for the rows with price_cents and dearer.

    The cents of a receipt's rows are those of their sum, so none is lost by rounding. Where one
    price does not give a row its cents, `dearer` of its units cost a cent more than the others.
    """
    if _is_plain(mapping):
        price = _render_rounded("abs(nanos)", "1000000000", mapping)
        return f"""
            select *, try_cast(case when nanos < 0 and kind <> 'refund' then -1 else 1 end
                * {price} as bigint) as price_cents, 0 as dearer from ({counted})"""
    each = f"(case when measure is null then 1 else {UNITS_PER_MEASURE} end)"
    through = _render_rounded("abs(total_through)", "1000000000", mapping)
    before = _render_rounded("abs(total_through - total_nanos)", "1000000000", mapping)
    one = f"((2 * abs(cents) * {each} + abs(units)) // nullif(2 * abs(units), 0))"
    comes = f"((abs(units) * {one} * 2 + {each}) // (2 * {each}))"
    return f"""
        select *, least(rest, rest - ((rest * (price_cents + 1)) % {each} * 2 = {each})::int)
            as dearer
        from (select *, case when is_even then sign(cents) * sign(units) * {one}
                else abs(cents) * {each} // nullif(units, 0) end::bigint as price_cents,
                case when is_even then 0 else abs(cents) * {each} % nullif(units, 0) end::bigint
                    as rest
            from (select *, {comes} = abs(cents) or kind = 'adjustment' or cents < 0 or units < 0
                    as is_even
                from (select *, sign(total_through) * {through}
                        - sign(total_through - total_nanos) * {before} as cents
                    from (select *, sum(total_nanos) over (
                            partition by store, kind, key, skipped is null
                            order by file, row, day) as total_through
                        from ({counted})))))"""


def _render_unread(names: Names, mapping: Mapping) -> str:
    """SQL for whether a row has a discount that is no number."""
    sources = (mapping.fields.discount, mapping.receipt.discount)
    unread = [
        f"(clean({names.columns[source]}) is not null and {names.render_number(source)} is null)"
        for source in sources
        if isinstance(source, str)
    ]
    return " or ".join(unread) or "false"


def _render_skip(names: Names, mapping: Mapping) -> str:
    """SQL for why a row is no sale; null for a sale."""
    cases = []
    for name, values in mapping.rows.skip.items():
        text = f"coalesce({names.columns[name]}, '')"
        for value in map(str.strip, values):
            begins = f"starts_with({text}, {quote(value[:-1])})"
            fits = begins if value.endswith("*") else f"{text} = {quote(value)}"
            why = quote(f"{name} is {value or 'empty'}")
            cases.append(f"when {fits} then {why}")
    if mapping.rows.skip_zero_units:
        zero = names.render_number(mapping.fields.units)
        cases.append(f"when {zero} = 0 then 'units are 0'")
    return f"case {' '.join(cases)} end" if cases else "null::varchar"


def _render_signs(names: Names, mapping: Mapping) -> str:
    """SQL for whether a column marks a row as a refund."""
    sign = mapping.cancelled
    if sign is None or sign.column is None:
        return "false"
    text = names.render_text(sign.column)
    if sign.prefix is not None:
        return f"coalesce(starts_with({text}, {quote(sign.prefix.strip())}), false)"
    values = ", ".join(quote(value.strip().lower()) for value in sign.values or ())
    return f"coalesce(lower({text}) in ({values}), false)"


def _render_correction(names: Names, mapping: Mapping) -> str:
    """SQL for the reason of a row that moves stock and is neither sale nor refund."""
    wanted = mapping.corrections
    if not isinstance(wanted, Corrections):
        return "null::varchar"
    text = f"lower({names.render_text(wanted.column)})"
    cases = " ".join(
        f"when {quote(value.strip().lower())} then {quote(reason)}"
        for value, reason in wanted.values.items()
    )
    return f"case {text} {cases} end"


def _render_kind(mapping: Mapping) -> str:
    sign = mapping.cancelled
    negative_units = "units_read < 0" if sign and sign.negative_units else "false"
    negative_price = "money < 0" if sign and sign.negative_price else "false"
    lost = "false"
    if isinstance(mapping.corrections, str):
        free = " and coalesce(money, 0) = 0" if sign and sign.negative_units else ""
        lost = f"units_read < 0{free}"
    return f"""case when correction is not null then 'adjustment' when is_cancelled then 'refund'
        when {lost} then 'adjustment' when {negative_units} or {negative_price} then 'refund'
        else 'receipt' end"""


def _render_receipt(names: Names, mapping: Mapping) -> str:
    """SQL for what makes a receipt one within its store; null without a number."""
    parts = [
        f"replace(replace({names.render_text(name)}, '~', '~~'), '|', '~|')"
        for name in mapping.receipt.by
    ]
    if parts and mapping.receipt.restarts in RESTARTS:
        parts.append(f"strftime(times.local, '{RESTARTS[mapping.receipt.restarts]}')")
    return " || '|' || ".join(parts) or "null::varchar"


def _render_sold_by(names: Names, mapping: Mapping) -> str:
    """SQL for one of SOLD_BY; null for a value that stands for none of them."""
    source = mapping.fields.measure
    if not isinstance(source, str):
        return quote(PIECE if source is None else source.value)
    named = {**{name: name for name in SOLD_BY}, **mapping.measures}
    cases = " ".join(f"when {quote(value)} then {quote(name)}" for value, name in named.items())
    return f"case coalesce({names.render_text(source)}, '{PIECE}') {cases} end"


def _render_total(mapping: Mapping) -> str:
    """SQL for what a row comes to, its discount taken off, in billionths."""
    gross = "nanos" if mapping.fields.amount is not None else "nanos * milli // 1000"
    positive = f"case kind when 'refund' then abs({gross}) else {gross} end"
    if mapping.fields.discount is None:
        return positive
    off = (
        f"case when discount_percent then abs({positive} * discount // 100) "
        "else abs(discount * 1000000000) end"
    )
    return f"({positive}) - coalesce(({off})::hugeint, 0)"


def _is_plain(mapping: Mapping) -> bool:
    """Whether the files give the price of a unit, and nothing comes off it."""
    fields = mapping.fields
    return fields.amount is None and not (fields.discount or mapping.receipt.discount)


def _render_rounded(part: str, whole: str, mapping: Mapping) -> str:
    """SQL for the cents of a sum that is not negative, rounded as the mapping says."""
    part = f"({part} * {10**mapping.money.decimals})"
    return {
        "half-up": f"((2 * {part} + {whole}) // (2 * {whole}))",
        "half-even": f"({part} // {whole} + "
        f"(2 * ({part} % {whole}) + ({part} // {whole}) % 2 > {whole})::int)",
        "down": f"({part} // {whole})",
    }[mapping.money.rounding]


def _render_fault(names: Names, mapping: Mapping) -> str:
    """SQL for the reason why a row cannot be read; null where it can."""
    expected = " or ".join(mapping.time.formats) or "ISO 8601, such as 2024-03-01 09:12"
    if mapping.time.since:
        expected = f"a number of days since {mapping.time.since}"
    time = quote(f"time: expected {expected}")
    measure = quote(f"measure: expected {', '.join(MEASURES)} or {PIECE}")
    money = mapping.fields.unit_price if mapping.fields.amount is None else mapping.fields.amount
    sign = {".": "point", ",": "comma"}.get(names.signs.get(str(money), "."))
    price = quote(f"price: expected a number with a decimal {sign}")
    ids = {"store": "store", "sku": "sku", "customer": "customer", "number": "receipt"}
    rounded = " ".join(
        f"when regexp_full_match({column}, '{ROUNDED}') then "
        f"'{name}: expected all digits, found a number that a spreadsheet has rounded'"
        for column, name in ids.items()
    )
    total = " or ".join(
        f"regexp_full_match(lower({column}), '{TOTAL}')" for column in ("store", "sku", "number")
    )
    return f"""case
        when row_fault is not null then row_fault
        when {total} then 'row: expected a sale, found a total'
        when store is null then 'store: expected one, found nothing'
        when sku is null then 'sku: expected one, found nothing'
        {rounded}
        when happened is null then {time}
        when sold_by is null then {measure}
        when sold_by = '{PIECE}' and (units_read is null or units_read <> trunc(units_read))
            then 'units: expected a whole number'
        when units_read is null or not units_exact or units_read <> round(units_read, 3)
            then 'units: expected a number with at most three decimals'
        when kind = 'adjustment' then null
        when units_read = 0 then 'units: expected some, found 0; see rows.skip_zero_units'
        when discount_unread then 'discount: expected a number'
        when price_cents is null or money_percent then {price}
        end"""


def _select_lines(mapping: Mapping) -> str:
    """SQL for the sales, grouped into receipts; a long receipt becomes several."""
    again = (
        "false"
        if mapping.receipt.restarts or not mapping.receipt.by
        else (
            f"numbered and max(happened) - min(happened) > {HOURS_MAX * 3_600_000} "
            "and max(local)::date > min(local)::date"
        )
    )
    again = again.replace("numbered", "bool_or(numbered)")
    many = f"receipt: at most {LINES_MAX:,} lines"
    whole = f"""
        select store, kind, key, min(happened) as issued, case
            when count(*) > {LINES_MAX} then {quote(many)}
            when count(fault) > 0 then arg_min(fault, row) filter (where fault is not null)
            when {again} then {quote(AGAIN)}
            when kind = 'adjustment' then null
            when count(distinct register_id) > 1 then {quote(SEVERAL.format("till"))}
            when count(distinct customer) > 1 then {quote(SEVERAL.format("customer"))}
            end as receipt_fault
        from taken where skipped is null group by store, kind, key"""
    most = (
        f"case when receipt_fault is not null then {10**9} when kind = 'adjustment' then 1 "
        f"else {mapping.receipt.lines_max} end"
    )
    line = "case half when 0 then units - dearer else dearer end as units"
    numbered = f"""
        select taken.* replace ({line}, price_cents + half as price_cents), issued, receipt_fault,
            (row_number() over (partition by store, kind, key
                order by file, row, happened, sku, half) - 1) // {most} as part
        from taken join ({whole}) whole using (store, kind, key)
            join (values (0), (1)) halves (half) on half = 0 or dearer > 0
        where skipped is null"""
    part = "case part when 0 then '' else part::varchar end"
    name = f"escape(store) || '-' || key || '-' || {LETTERS} || {part}"
    short = f"left(sha256(name), 40) || '-' || {LETTERS}"
    return f"""
        select file, row, day, case when length(name) > {ID_LENGTH_MAX} then {short} else name end
            as event_id, kind, correction, happened, store, sku, units, measure, price_cents,
            register_id, cashier, customer, card, name_of as name, category, fault, issued,
            receipt_fault
        from (select * exclude (name), name as name_of, {name} as name from ({numbered}))"""
