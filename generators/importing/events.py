"""Makes events of lines: receipts, refunds and adjustments, and the catalog before them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

import duckdb

from contracts import (
    ADJUSTMENTS,
    PRICE_CHANGES,
    PRODUCTS,
    RECEIPTS,
    REFUNDS,
    STORES,
    Contract,
    encode,
    encode_key,
)
from contracts.faults import Fault, find_faults
from contracts.times import to_instant
from generators.event import Event
from generators.importing.mapping import LINES_MAX, Mapping, Store
from infra.identities import AsSent, Edge
from infra.kafka import Outgoing

AS_SENT = AsSent()
ROWS_PER_CHUNK = 5_000
ID_LENGTH_MAX = 64
LETTERS = {"receipt": "R", "refund": "B", "adjustment": "A"}
"""The suffix of an event's id: a receipt and its refund may share an invoice number."""
MICRODEGREES = 1_000_000
Found = dict[str, Any]
"""A line: a row of table `lines`, with its receipt's time and fault."""


@dataclass(frozen=True, slots=True)
class Issued:
    """An event and its first row in the files."""

    contract: Contract
    event: Event
    file: str
    row: int

    @property
    def event_id(self) -> str:
        return str(self.event["event_id"])

    @property
    def at_ms(self) -> int:
        return int(self.event["event_time"])


@dataclass(frozen=True, slots=True)
class Refused:
    """An event that is not published, with every reason."""

    kind: str
    file: str
    row: int
    reasons: tuple[str, ...]
    found: tuple[str, ...]


def issue_events(engine: duckdb.DuckDBPyConnection, mapping: Mapping) -> Iterator[Issued | Refused]:
    """Every receipt, refund and adjustment of the files, in order of event time."""
    reader = engine.sql(
        'select lines.file, lines."row", happened, store, sku, units, measure, price_cents, '
        "register_id, cashier, customer, card, lines.fault, kind, key, issued, "
        "receipts.fault as receipt_fault "
        "from lines join receipts using (store, kind, key) "
        'order by issued nulls first, store, kind, key, file, "row", happened, sku'
    ).to_arrow_reader(ROWS_PER_CHUNK)
    rows = (row for chunk in reader for row in chunk.to_pylist())
    for _, lines in groupby(rows, key=lambda row: (row["store"], row["kind"], row["key"])):
        yield from _issue_receipt(mapping, lines)


def refuse_unplaced(engine: duckdb.DuckDBPyConnection) -> Iterator[Refused]:
    """Refuse the rows that name no store: they belong to no receipt."""
    found = engine.execute('select kind, file, "row", fault from lines where store is null')
    while rows := found.fetchmany(ROWS_PER_CHUNK):
        for kind, file, row, fault in rows:
            yield Refused(kind, file, row, (fault,), ())


def announce_catalog(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, at_ms: int, first_ms: int
) -> Iterator[Issued]:
    """Stores, products, prices and opening stock, as of `at_ms`; they hold from `first_ms` on."""
    since = {"event_time": at_ms, "effective_at": max(at_ms, first_ms)}
    for [store] in _query_rows(engine, f"select distinct store from ({GOOD}) order by 1"):
        place = mapping.stores.get(store, Store())
        described = {
            "store_id": store,
            "name": place.name or store,
            "city": place.city,
            "latitude_microdegrees": round(place.latitude * MICRODEGREES),
            "longitude_microdegrees": round(place.longitude * MICRODEGREES),
            "opens_at_minute": place.opens_at_minute,
            "closes_at_minute": place.closes_at_minute,
            "currency": mapping.money.currency,
        }
        yield _announce(STORES, {**described, **since}, store)
    for sku, name, category, measure in _query_rows(engine, PRODUCT):
        described = {
            "sku": sku,
            "name": (name or sku)[:200],
            "category": (category or "unknown")[:64],
            **mapping.products.model_dump(exclude={"name", "category"}),
            **_give_measure(measure),
        }
        yield _announce(PRODUCTS, {**described, **since}, sku)
    if mapping.prices == "usual":
        for sku, price_cents in _query_rows(engine, PRICE):
            price = {"sku": sku, "price_cents": price_cents, **since}
            yield _announce(PRICE_CHANGES, price, sku, first_ms)
    if mapping.opening_stock == "covering":
        for store, sku, units in _query_rows(engine, OPENING):
            shelf = {"store_id": store, "sku": sku, "units": units, "reason": "opening"}
            yield _announce(ADJUSTMENTS, {**shelf, "event_time": at_ms}, store, sku)


def to_outgoing(found: Issued, published_ms: int, edge: Edge = AS_SENT) -> Outgoing | Refused:
    """The record to publish, as the edge replaces its fields, or why the contract rejects it."""
    contract, event = found.contract, found.event
    there = [name for name in contract.times if event.get(name) is not None]
    times = {name: to_instant(event[name]) for name in there}
    wrong = find_faults(contract, {**event, **times})
    if wrong:
        reasons, values = zip(
            *((_render_reason(fault), fault.found) for fault in wrong), strict=True
        )
        return Refused(
            contract.entity, found.file, found.row, tuple(dict.fromkeys(reasons)), values
        )
    passed = edge.replace(event)
    return Outgoing(
        contract.name, encode_key(contract, passed), encode(contract, passed), published_ms
    )


GOOD = "select * from lines semi join (from receipts where fault is null) using (store, kind, key)"
PRODUCT = (
    "select sku, arg_min(name, happened) filter (where name is not null), "
    f"arg_min(category, happened), max(measure) from ({GOOD}) group by sku order by sku"
)
PRICE = (
    "select sku, quantile_disc(price_cents, 0.5) "
    f"from ({GOOD}) where kind = 'receipt' and price_cents > 0 group by sku order by sku"
)
OPENING = f"""
    select store, sku, max(short) from (
        select store, sku, sum(case kind when 'receipt' then units else -units end) over (
            partition by store, sku order by happened, kind <> 'receipt', file, "row") as short
        from ({GOOD}))
    group by store, sku having max(short) > 0 order by store, sku"""
"""The largest number of units that the shelf lacked, over all its sales."""


def _issue_receipt(mapping: Mapping, lines: Iterator[Found]) -> Iterator[Issued | Refused]:
    parts: list[list[Found]] = [[]]
    for number, line in enumerate(lines):
        if number >= LINES_MAX:
            first = parts[0][0]
            many = f"receipt: at most {LINES_MAX:,} lines"
            yield Refused(first["kind"], first["file"], first["row"], (many,), ())
            return
        if len(parts[-1]) >= (1 if line["kind"] == "adjustment" else mapping.receipt.lines_max):
            parts.append([])
        parts[-1].append(line)
    for number, part in enumerate(parts):
        yield _issue_event(mapping, part, number)


def _issue_event(mapping: Mapping, lines: list[Found], part: int) -> Issued | Refused:
    first = lines[0]
    if first["receipt_fault"] is not None:
        bad = next((line for line in lines if line["fault"]), first)
        return Refused(first["kind"], bad["file"], bad["row"], (first["receipt_fault"],), ())
    kind = first["kind"]
    # The same receipt has the same id in every file and import.
    text = f"{first['store']}-{first['key']}-{LETTERS[kind]}{part or ''}"
    shared = {
        "event_id": text if len(text) <= ID_LENGTH_MAX else f"{_hash(text)}-{LETTERS[kind]}",
        "event_time": first["issued"],
        "store_id": first["store"],
    }
    if kind == "adjustment":
        moved = {"sku": first["sku"], "units": first["units"], "reason": mapping.corrections}
        return Issued(ADJUSTMENTS, {**shared, **moved}, first["file"], first["row"])
    contract = RECEIPTS if kind == "receipt" else REFUNDS
    optional = {"card_token": first["card"], "customer_id": first["customer"]}
    event = {
        **shared,
        "register_id": first["register_id"],
        "cashier_id": first["cashier"],
        **{name: value for name, value in optional.items() if value},
        "lines": [
            {
                "sku": line["sku"],
                "units": line["units"],
                "unit_price_cents": line["price_cents"],
                **_give_measure(line["measure"]),
            }
            for line in lines
        ],
    }
    return Issued(contract, event, first["file"], first["row"])


def _give_measure(measure: str | None) -> Event:
    """The measure as a field; none for what is sold by the piece."""
    return {} if measure is None else {"measure": measure}


def _announce(contract: Contract, event: Event, *names: object) -> Issued:
    named = "/".join(map(str, (contract.entity, *names)))
    return Issued(contract, {"event_id": f"{contract.entity}-{_hash(named)}", **event}, "", 0)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:40]


def _render_reason(fault: Fault) -> str:
    """The fault without the numbers that differ from row to row."""
    place, problem = re.sub(r"\[\d+\]", "[]", fault.place), fault.problem.partition(", not ")[0]
    return problem if problem.startswith(place) else f"{place}: {problem}"


def _query_rows(engine: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that runs beside others on the same database."""
    found = engine.cursor().execute(query)
    while rows := found.fetchmany(ROWS_PER_CHUNK):
        yield from rows
