"""Views in SQL: a statement has the contribution of a line to a row, the contract the rest.

    SELECT store_id,
           tumbling(event_time, INTERVAL 1 MINUTE) AS window_start,
           units                                   AS units_sold
    FROM line
    WHERE topic = 'public.sales.receipt.v1'

`tumbling` and `hopping` give the begin of a window; the contract's field named …_end has its end.
Every other number of the contract is the sum of the column with its name. The numbers of events on
time and late, and the version, are the same aggregates in every view. Sums of cents may exceed 64
bits: a contract with such sums has the field SUMS_IN_FULL.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import sqlglot
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from sqlglot import exp
from sqlglot.errors import SqlglotError

from contracts import Contract
from infra.errors import UserError
from pipelines.common.pipeline import Contribution, View
from pipelines.common.transform.full_sums import SUMS_IN_FULL, add_halves, join_halves, keep_halves

DIALECT = "spark"
LINE = "line"
ON_TIME = "_on_time"
WINDOWS = ("tumbling", "hopping")
PRICES = {"unit_price_cents": "amount_cents", "unit_cost_cents": "cost_cents"}
"""The prices of a line, and what the line comes to by each."""
LATE = "_late"
PER_EVENT = ("late_events", "last_late_event_time", "version")
WINDOWS_PER_LINE_MAX = 24


class BadStatement(UserError):
    """The SQL of a view does not fit its contract."""

    def __init__(self, file: Path, expected: str, found: str) -> None:
        super().__init__(f"{file} should have {expected}, but has {found}.")


def load_view(file: Path, contract: Contract) -> View:
    """The view declared in the file; raises BadStatement."""
    try:
        select = sqlglot.parse_one(file.read_text(), dialect=DIALECT)
    except SqlglotError as error:
        raise BadStatement(file, "a statement of Spark's SQL", str(error)) from error
    if not isinstance(select, exp.Select):
        raise BadStatement(file, "one SELECT", type(select).__name__)
    columns = {expression.alias_or_name: expression.unalias() for expression in select.expressions}
    expected = {*contract.key, *list_amounts(contract)}
    if set(columns) != expected:
        raise BadStatement(
            file, f"the columns {', '.join(sorted(expected))}", ", ".join(sorted(columns))
        )
    money = list_amounts_of_money(contract)
    if money and SUMS_IN_FULL not in {field.name for field in contract.fields}:
        raise BadStatement(
            file, f"the field {SUMS_IN_FULL} in its contract", f"sums of cents, {money[0]}, alone"
        )
    if [table.name for table in select.find_all(exp.Table)] != [LINE]:
        raise BadStatement(file, f"FROM {LINE}", select.sql(DIALECT))
    refuse_products(file, select)
    began, size, every = parse_window(file, columns)
    condition = select.args.get("where")
    return View(
        contract,
        contributions=lambda: [
            Contribution(
                {began: start}, None if condition is None else F.expr(condition.this.sql(DIALECT))
            )
            for start in list_starts(size, every)
        ],
        derived=lambda: derive_columns(contract, columns, began, size),
        ends=find_end_field(contract),
    )


def refuse_products(file: Path, select: exp.Select) -> None:
    """Refuse units times a price: of a line with a measure that is a thousandfold."""
    for product in select.find_all(exp.Mul):
        names = {column.name for column in product.find_all(exp.Column)}
        if "units" in names and (prices := names & PRICES.keys()):
            expected = " and ".join(sorted(PRICES[name] for name in prices))
            raise BadStatement(file, f"{expected} of the line", product.sql(DIALECT))


def list_amounts(contract: Contract) -> list[str]:
    """The fields that are sums of a column of the statement."""
    computed = {*contract.key, find_end_field(contract), *PER_EVENT, SUMS_IN_FULL}
    return [
        field.name
        for field in contract.fields
        if field.name not in computed and not field.name.endswith(ON_TIME)
    ]


def find_end_field(contract: Contract) -> str:
    """The field with the end of a row's window."""
    (ends,) = [
        field.name
        for field in contract.fields
        if field.type == "timestamp" and field.name.endswith("_end")
    ]
    return ends


def parse_window(
    file: Path, columns: Mapping[str, exp.Expression]
) -> tuple[str, timedelta, timedelta]:
    """The column with the begin of a window, the window's length, and its step."""
    found = {
        name: [parse_span(file, length) for length in call.expressions[1:]]
        for name, call in columns.items()
        if isinstance(call, exp.Anonymous) and call.name.lower() in WINDOWS
    }
    if len(found) != 1:
        raise BadStatement(file, f"one window, by {' or '.join(WINDOWS)}", str(len(found)))
    ((name, spans),) = found.items()
    size, every = spans[0], spans[-1]
    if size % every or not 1 <= size // every <= WINDOWS_PER_LINE_MAX:
        raise BadStatement(
            file, f"windows of 1 to {WINDOWS_PER_LINE_MAX} whole steps", f"{size} by {every}"
        )
    return name, size, every


def parse_span(file: Path, length: exp.Expression) -> timedelta:
    unit = length.args["unit"].name if isinstance(length, exp.Interval) else ""
    unit = f"{unit.lower().rstrip('s')}s"
    if unit not in ("minutes", "hours", "days"):
        raise BadStatement(file, "windows in minutes, hours or days", length.sql(DIALECT))
    return timedelta(**{unit: int(length.this.name)})


def list_starts(size: timedelta, every: timedelta) -> list[Column]:
    """The begins of the windows that contain an event."""
    step = every // timedelta(microseconds=1)
    event_us = F.unix_micros("event_time")
    newest = event_us - F.pmod(event_us, F.lit(step))
    return [F.timestamp_micros(newest - n * step) for n in range(size // every)]


def derive_columns(
    contract: Contract, columns: Mapping[str, exp.Expression], began: str, size: timedelta
) -> Mapping[str, Column]:
    """What a line contributes to the row of a window that has begun then, but for the beginning."""
    grace = contract.grace or timedelta()
    given = {name: F.expr(of.sql(DIALECT)) for name, of in columns.items() if name != began}
    sums = {name: column.cast("long") for name, column in given.items() if name not in contract.key}
    return {
        **given,
        **sums,
        find_end_field(contract): F.col(began) + F.lit(size),
        LATE: F.col("published") > F.col(began) + F.lit(size + grace),
    }


def build_aggregates(views: Sequence[View]) -> Mapping[str, Column]:
    """The fields of the views that are no keys, as aggregates of contributions.

    For sums that may exceed 64 bits, the columns from which `to_rows` makes them.
    """
    full = list_full_amounts(views)
    every = dict.fromkeys(name for view in views for name in list_amounts(view.contract))
    sums = [name for name in every if name not in full]
    ends = dict.fromkeys(find_end_field(view.contract) for view in views)
    event_late = F.col(LATE) & F.col("first_of_event")
    return {
        **{name: F.max(name) for name in ends},
        **{name: sum_all(F.col(name)) for name in sums},
        **{f"{name}{ON_TIME}": sum_punctual(F.col(name)) for name in sums},
        **keep_halves({name: add_halves(F.col(name), sum_all) for name in full}),
        **keep_halves({f"{name}{ON_TIME}": add_halves(F.col(name), sum_punctual) for name in full}),
        "late_events": F.count_if(event_late),
        "last_late_event_time": F.max(F.when(F.col(LATE), F.col("event_time"))),
        "version": F.count_if("first_of_event"),
    }


def to_rows(views: Sequence[View], aggregates: DataFrame) -> DataFrame:
    """The aggregates with all fields of the views: SUMS_IN_FULL and the sums that it may list."""
    full = list_full_amounts(views)
    return join_halves(aggregates, [f"{name}{of}" for name in full for of in ("", ON_TIME)])


def list_full_amounts(views: Sequence[View]) -> list[str]:
    """The amounts whose sums may exceed 64 bits."""
    return list(
        dict.fromkeys(name for view in views for name in list_amounts_of_money(view.contract))
    )


def list_amounts_of_money(contract: Contract) -> list[str]:
    units = {field.name: field.unit for field in contract.fields}
    return [name for name in list_amounts(contract) if units[name] == "cents"]


def sum_all(number: Column) -> Column:
    return F.coalesce(F.sum(number), F.lit(0))


def sum_punctual(number: Column) -> Column:
    """The sum over events that were published on time."""
    return sum_all(F.when(~F.col(LATE), number))
