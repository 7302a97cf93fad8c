"""retail sql: ask the lake's Delta tables in SQL, by DuckDB."""

import json
import readline  # noqa: F401  a line at the prompt can be edited and repeated
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import duckdb
import typer
from deltalake import DeltaTable

from contracts import CONTRACTS, Contract
from contracts.times import to_text
from infra.errors import UserError
from infra.folder import Folder
from infra.lake import find_newest_version, locate_folders
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.options import AsJson
from pipelines import lake
from pipelines.lake.orders import TABLE as ORDERS
from pipelines.lake.prices import TABLE as PRICES
from pipelines.lake.views import VIEWS

ENGINE: dict[str, str | bool | int | float | list[str]] = {"threads": 2, "memory_limit": "1GB"}
ROWS_DEFAULT, ROWS_MAX = 100, 1_000_000
CHARACTERS_MAX = 80
"""Of a value in a table on the screen; `--json` shows all of it."""
STOCK_DAYS = Path(lake.__file__).with_name("stock_days.sql")
PROMPT, CONTINUED = "sql> ", "...> "


def sql(
    query: Annotated[
        str | None, typer.Argument(help="Else a prompt, or what standard input holds.")
    ] = None,
    rows_max: Annotated[
        int, typer.Option("--max", min=1, max=ROWS_MAX, help="So many rows of the answer.")
    ] = ROWS_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Ask the lake's tables: retail sql "select sku, sum(units_sold) from gold.daily_facts …".

    Tables: bronze.record; silver.receipt and so on for each topic of events; in gold daily_facts,
    stock_days, stock, alerts, orders, prices. Each is as it is when the command begins. `show all
    tables` lists them.
    """
    engine = connect(read_settings())
    if query is not None:
        answer(engine, query, rows_max, as_json)
    elif not sys.stdin.isatty():
        answer(engine, sys.stdin.read(), rows_max, as_json)
    else:
        for asked in read_queries():
            try:
                answer(engine, asked, rows_max, as_json)
            except UserError as error:
                screen.say(str(error))


def connect(settings: Settings) -> duckdb.DuckDBPyConnection:
    """An engine with a view of each table that the lake has, at its newest version.

    Raises UserError where the lake has no table.
    """
    engine, found = duckdb.connect(config=ENGINE), 0
    for name, folder in list_tables(settings).items():
        if find_newest_version(folder) < 0:
            continue
        layer, _, table = name.partition(".")
        source = f"{layer}_{table}"
        engine.register(source, DeltaTable(str(folder)).to_pyarrow_dataset())
        engine.sql(f"create schema if not exists {layer}")
        engine.sql(f"create view {name} as from {source}")
        found += 1
    if find_newest_version(locate_folders(settings).daily_facts) >= 0:
        engine.sql(f"create view gold.stock_days as {STOCK_DAYS.read_text()}")
    if not found:
        raise UserError(
            f"Expected Delta tables below {locate_folders(settings).root}, found none. The lake "
            "writes them: make down && make up LAKE=on"
        )
    return engine


def list_tables(settings: Settings) -> dict[str, Folder]:
    """The folder of each table that a lake may have, by its name in SQL."""
    folders = locate_folders(settings)
    return {
        "bronze.record": folders.bronze,
        **{
            f"silver.{name_table(contract)}": folders.silver(contract)
            for contract in CONTRACTS.values()
        },
        "gold.daily_facts": folders.daily_facts,
        **{f"gold.{table}": folders.gold(table) for table in (*VIEWS.values(), ORDERS, PRICES)},
    }


def name_table(contract: Contract) -> str:
    """The entity; a later version of it, which may be beside the first, has its number."""
    name = contract.entity.replace("-", "_")
    return name if contract.major == 1 else f"{name}_v{contract.major}"


def answer(engine: duckdb.DuckDBPyConnection, query: str, rows_max: int, as_json: bool) -> None:
    """Print the rows of a query, as a table or as a line of JSON for each. Raises UserError."""
    try:
        engine.execute(query)
        heads = [column[0] for column in engine.description or ()]
        rows = engine.fetchmany(rows_max + 1) if heads else []
    except duckdb.Error as error:
        raise UserError(f"{error}\nThe tables: retail sql 'show all tables'") from error
    for row in rows[:rows_max] if as_json else ():
        named = dict(zip(heads, row, strict=True))
        screen.say(json.dumps(named, ensure_ascii=False, default=to_json))
    if not as_json:
        screen.print_table(tuple(heads), (tuple(map(render, row)) for row in rows[:rows_max]))
    if len(rows) > rows_max:
        print(f"  … more than {rows_max:,} rows; all: --max", file=sys.stderr)


def render(value: object) -> str:
    return screen.cut("" if value is None else str(value), CHARACTERS_MAX)


def to_json(value: object) -> str:
    """A value that JSON has no form for: a time, bytes as hexadecimal digits, or its text."""
    if isinstance(value, datetime):
        return to_text(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def read_queries() -> Iterator[str]:
    """The queries that a person types, each up to its semicolon, until the input ends."""
    screen.say("  A query ends with a semicolon; Ctrl-D ends the prompt. Try: show all tables;")
    lines: list[str] = []
    while True:
        try:
            lines.append(input(CONTINUED if lines else PROMPT))
        except EOFError:
            return
        if lines[-1].rstrip().endswith(";"):
            yield "\n".join(lines)
            lines = []
