"""SQL for table `lines`: a retailer's columns, interpreted by the mapping."""

from contracts.measures import MEASURES, UNITS_PER_MEASURE
from generators.importing.mapping import PIECE, SOLD_BY, Constant, Mapping, Source

NUMBER, EXACT = "decimal(28, 6)", "decimal(38, 18)"
"""The number of a row's identity, and one that shows decimals too many."""
FILE_COLUMN, ROW_COLUMN = "_file", "_row"
SAME = "happened, store, sku, _units, _money, register_id, cashier, customer, card, _by"
"""The columns that make two rows equal."""
COPY = f"row_number() over (partition by {SAME} order by {ROW_COLUMN})"


def select_lines(mapping: Mapping, source: str) -> str:
    """SQL for table `lines`."""
    fields, products = mapping.fields, mapping.products
    money = fields.unit_price if fields.amount is None else fields.amount
    price = "_money" if fields.amount is None else "(_money / nullif(_units, 0))"
    by = [f"coalesce({_quote_column(column)}, '')" for column in mapping.receipt.by]
    named = f"concat_ws('|', {', '.join(by)})" if by else "null::varchar"
    taken = f"""
        select {FILE_COLUMN}, {ROW_COLUMN}, {_render_number(fields.units, mapping)} as _units,
            {_render_number(fields.units, mapping, EXACT)} as _exact_units,
            {_render_sold_by(mapping)} as _sold_by,
            {_render_number(money, mapping)} as _money, {_render_moment(mapping)} as happened,
            {_render_text(fields.store)} as store, {_render_text(fields.sku)} as sku,
            {_render_text(fields.register_id)} as register_id,
            {_render_text(fields.cashier)} as cashier,
            {_render_text(fields.customer)} as customer, {_render_text(fields.card)} as card,
            {_render_text(products.name)} as name, {_render_text(products.category)} as category,
            {_render_sign(mapping)} as _refund, {named} as _by
        from {source} raw where {_filter_rows(mapping)}"""
    cancelled = mapping.cancelled
    refund = "_units < 0" if cancelled and cancelled.negative_units else "_refund"
    correction = "_units < 0" if mapping.corrections else "false"
    kinds = f"""
        select *, {price} as _price, {COPY} as copy, case when {refund} then 'refund'
            when {correction} then 'adjustment' else 'receipt' end as kind
        from ({taken})"""
    # Without a receipt number, the number of equal rows before it identifies a row.
    own = f"md5(concat_ws('|', {SAME})) || '-' || copy"
    each = f"case _sold_by when '{PIECE}' then 1 else {UNITS_PER_MEASURE} end"
    units = f"case kind when 'refund' then abs(_units) else _units end * {each}"
    return f"""
        select {FILE_COLUMN} as file, {ROW_COLUMN} as "row", copy, coalesce(_by, {own}) as key,
            kind, happened, store, sku, try_cast({units} as bigint) as units,
            nullif(_sold_by, '{PIECE}') as measure,
            {_render_cents(mapping)} as price_cents, register_id, cashier, customer, card, name,
            category,
            {_render_fault(mapping)} as fault
        from ({kinds})"""


def _filter_rows(mapping: Mapping) -> str:
    conditions = [
        f"coalesce(trim({_quote_column(column)}), '') not in ({', '.join(map(quote, values))})"
        for column, values in mapping.rows.skip.items()
    ]
    if mapping.rows.skip_zero_units:
        conditions.append(f"coalesce({_render_number(mapping.fields.units, mapping)}, 1) <> 0")
    return " and ".join(conditions) or "true"


def _render_sign(mapping: Mapping) -> str:
    """SQL for whether a column marks a row as a refund."""
    sign = mapping.cancelled
    if sign is None or sign.column is None:
        return "false"
    if sign.prefix is not None:
        return f"starts_with({_quote_column(sign.column)}, {quote(sign.prefix)})"
    return f"trim({_quote_column(sign.column)}) in ({', '.join(map(quote, sign.values or ()))})"


def _render_moment(mapping: Mapping) -> str:
    time, column = mapping.time, _quote_column(mapping.time.column)
    zone = quote(time.zone)
    if time.formats:
        formats = ", ".join(map(quote, time.formats))
        local = f"try_strptime({column}, [{formats}])"
    else:
        local = f"try_cast({column} as timestamp)"
    if time.time_of_day:
        local = f"(date_trunc('day', {local}) + interval '{time.time_of_day}:00')"
    instant = f"timezone({zone}, {local})"
    if not time.formats and not time.time_of_day:
        offset = f"regexp_matches({column}, '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$')"
        with_time = f"regexp_matches({column}, ':') and {offset}"
        instant = f"case when {with_time} then try_cast({column} as timestamptz) else {instant} end"
    return f"epoch_ms({instant})"


def _render_sold_by(mapping: Mapping) -> str:
    """SQL for one of SOLD_BY; null for a value that stands for none of them."""
    source = mapping.fields.measure
    if not isinstance(source, str):
        return quote(PIECE if source is None else source.value)
    named = {**{name: name for name in SOLD_BY}, **mapping.measures}
    cases = " ".join(f"when {quote(value)} then {quote(name)}" for value, name in named.items())
    return f"case coalesce({_render_text(source)}, '{PIECE}') {cases} end"


def _render_number(source: Source | None, mapping: Mapping, kind: str = NUMBER) -> str:
    text = _render_text(source)
    if mapping.rows.decimal == ",":
        text = f"replace(replace({text}, '.', ''), ',', '.')"
    return f"try_cast({text} as {kind})"


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
    time = quote(f"time: expected {expected}")
    measure = quote(f"measure: expected {', '.join(MEASURES)} or {PIECE}")
    return f"""case
        when store is null then 'store: expected one, found nothing'
        when sku is null then 'sku: expected one, found nothing'
        when happened is null then {time}
        when _sold_by is null then {measure}
        when _sold_by = '{PIECE}' and (_units is null or _units <> trunc(_units))
            then 'units: expected a whole number'
        when _units is null or _exact_units <> round(_exact_units, 3)
            then 'units: expected a number with at most three decimals'
        when _price is null and kind <> 'adjustment' then 'price: expected a number'
        end"""


def _render_text(source: Source | None) -> str:
    if source is None:
        return "null::varchar"
    if isinstance(source, Constant):
        return quote(source.value)
    return f"nullif(trim({_quote_column(source)}), '')"


def _quote_column(name: str) -> str:
    """A column of the files, in the statement that reads them."""
    return f"raw.{quote_name(name)}"


def quote_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
