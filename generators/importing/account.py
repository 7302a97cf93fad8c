"""The account of an import: what became of every row, and the refused rows, to be mended.

Table `rejected`: event_id, reason; what a contract or the clock refused is in no other table.
"""

import csv
from collections.abc import Iterable
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb

from generators.importing.engine import keep, stream
from generators.importing.mapping import Mapping
from generators.importing.reading import MENDED

CENTS = (
    "case when measure is null then units * price_cents "
    "else (units * price_cents + 500) // 1000 end"
)
PIECES = "units / case when measure is null then 1 else 1000 end"


def keep_rejected(
    engine: duckdb.DuckDBPyConnection, rejected: Iterable[tuple[str | None, str]]
) -> None:
    """Make the tables `rejected` and `refused`: file, row, day, reason of every refused row."""
    reasons = {event_id: reason for event_id, reason in rejected if event_id is not None}
    keep(engine, "rejected", reasons.items(), {"event_id": "varchar", "reason": "varchar"})
    engine.execute(
        "create table refused as select distinct file, row, day, reason from lines join rejected "
        "using (event_id) union all select file, row, day, fault from taken "
        "where store is null and skipped is null"
    )


ALL_ROWS = "coalesce(sum(case kind when 'refund' then -total_nanos else total_nanos end), 0)"
"""SQL for what rows come to, in billionths: what was paid, less what was paid back."""


def draw_up(engine: duckdb.DuckDBPyConnection, mapping: Mapping) -> dict[str, Any]:
    """The account, as JSON can hold it; money is in the currency's smallest unit."""
    engine.execute(
        "create view used as select * from lines "
        "where event_id not in (select event_id from rejected)"
    )
    [[read, skipped]] = _ask(engine, "select count(*), count(skipped) from taken")
    [[refused]] = _ask(engine, "select count(*) from refused")
    kinds = dict(_ask(engine, "select kind, count(distinct event_id) from used group by 1"))
    [[first, last, customers, skus]] = _ask(
        engine,
        "select strftime(make_timestamp(min(issued) * 1000), '%Y-%m-%dT%H:%M:%S.%gZ'), "
        "strftime(make_timestamp(max(issued) * 1000), '%Y-%m-%dT%H:%M:%S.%gZ'), "
        "count(distinct customer), count(distinct sku) from used",
    )
    [[nanos]] = _ask(engine, f"select {ALL_ROWS} from taken")
    [[unnumbered]] = _ask(
        engine, "select count(*) from taken where not numbered and skipped is null"
    )
    return {
        "rows": {
            "read": read,
            "used": read - skipped - refused,
            "skipped": dict(_ask(engine, _count("taken", "skipped"))),
            "refused": dict(_ask(engine, _count("refused", "reason"))),
        },
        "receipts": kinds.get("receipt", 0),
        "refunds": kinds.get("refund", 0),
        "adjustments": kinds.get("adjustment", 0),
        "without_a_number": unnumbered if mapping.receipt.by else 0,
        "first": first,
        "last": last,
        "customers": customers,
        "skus": skus,
        "currency": mapping.money.currency,
        "decimals": mapping.money.decimals,
        "months": _sum_months(engine, mapping),
        "stores": _sum_stores(engine),
        "columns": _sum_columns(engine),
        "all_rows_come_to": f"{Decimal(nanos) / 10**9:f}",
    }


def _ask(engine: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return engine.execute(query).fetchall()


def _count(table: str, reason: str) -> str:
    counts = f"select {reason}, count(*) from {table} where {reason} is not null"
    return f"{counts} group by 1 order by 2 desc, 1"


def _sum_months(engine: duckdb.DuckDBPyConnection, mapping: Mapping) -> list[dict[str, Any]]:
    """Money in and out by month of the mapping's zone and by store, from receipts and refunds."""
    month = f"timezone('{mapping.time.zone}', make_timestamp(issued * 1000)::timestamptz)"
    rows = _ask(
        engine,
        f"select strftime({month}, '%Y-%m') as month, store, "
        f"coalesce(sum({CENTS}) filter (kind = 'receipt'), 0)::bigint, "
        f"coalesce(sum({CENTS}) filter (kind = 'refund'), 0)::bigint from used "
        "where kind <> 'adjustment' group by all order by 1, 2",
    )
    return [
        {"month": month, "store": store, "in_cents": paid, "out_cents": returned}
        for month, store, paid, returned in rows
    ]


def _sum_stores(engine: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Units by store, of pieces and whole measures."""
    kinds = {"sold": "receipt", "refunded": "refund", "adjusted": "adjustment"}
    sums = ", ".join(
        f"coalesce(sum({PIECES}) filter (kind = '{kind}'), 0)::double as {name}"
        for name, kind in kinds.items()
    )
    rows = _ask(engine, f"select store, {sums} from used group by all order by 1")
    return [dict(zip(("store", *kinds), row, strict=True)) for row in rows]


def _sum_columns(engine: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """The numbers of each column, of all rows read, and the texts of its least and its most."""
    sums = []
    for name, column, sign in _ask(engine, "from decided where sign is not null"):
        [[filled, read, total, least, most]] = _ask(
            engine,
            f"select count({column}), count(value), coalesce(sum(value), 0), "
            f"arg_min({column}, value), arg_max({column}, value) from source "
            f"left join number_{column} n on n.text = {column}",
        )
        sums.append(
            {
                "column": name,
                "decimal": sign,
                "cells": filled,
                "numbers": read,
                "sum": f"{total.normalize():f}",
                "least": least,
                "most": most,
            }
        )
    return sums


def write_refused(engine: duckdb.DuckDBPyConnection, mapping: Mapping, file: Path) -> None:
    """Write the refused rows as they stood, with where and why; without any, there is no file.

    Imported beside the others, a row of this file stands in for the one that it came from.
    """
    columns = dict(_ask(engine, "from raw_columns"))
    days = mapping.wide.columns if mapping.wide else None
    cells = ", ".join(f"raw.{ident}" for ident in columns.values())
    found = stream(
        engine,
        f"select raw.file, raw.row, list(day), min(reason), {cells} from raw "
        f"join refused using (file, row) group by raw.file, raw.row, {cells} order by 1, 2",
    )
    file.unlink(missing_ok=True)
    first = next(found, None)
    if first is None:
        return
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, delimiter=mapping.rows.delimiter or ",")
        writer.writerow([*columns, *MENDED])
        for label, row, refused_days, reason, *texts in chain([first], found):
            kept = [
                text if days is None or not days.search(name) or name in refused_days else None
                for name, text in zip(columns, texts, strict=True)
            ]
            writer.writerow([*kept, label, row, reason])
