"""Makes events of lines: receipts, refunds and adjustments, and the catalog before them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import duckdb
from pydantic import ValidationError

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
from contracts.errors import Unencodable
from contracts.faults import Fault, find_faults
from contracts.models import build_model
from contracts.times import to_instant
from generators.event import Event
from generators.importing.engine import ROWS_PER_CHUNK, stream
from generators.importing.mapping import Mapping, Store
from infra.identities import AsSent, Edge
from infra.kafka import Outgoing

AS_SENT = AsSent()
MICRODEGREES = 1_000_000


class Line(NamedTuple):
    """A row of table `lines`."""

    file: str
    row: int
    event_id: str
    kind: str
    issued: int
    store: str
    sku: str
    units: int
    measure: str | None
    price_cents: int
    register_id: str | None
    cashier: str | None
    customer: str | None
    card: str | None
    correction: str | None
    fault: str | None
    receipt_fault: str | None


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
    event_id: str | None = None
    """None for a row that belongs to no event."""


def issue_events(engine: duckdb.DuckDBPyConnection, mapping: Mapping) -> Iterator[Issued | Refused]:
    """Every receipt, refund and adjustment of the files, in order of event time."""
    reader = (
        engine.cursor()
        .sql(
            f"select {', '.join(Line._fields)} from lines "
            "order by issued nulls first, store, kind, event_id, file, row, day, price_cents"
        )
        .to_arrow_reader(ROWS_PER_CHUNK)
    )
    rows = (
        Line._make(row)
        for chunk in reader
        for row in zip(*(column.to_pylist() for column in chunk.columns), strict=True)
    )
    for _, lines in groupby(rows, key=attrgetter("event_id")):
        yield _issue_event(mapping, list(lines))


def refuse_unplaced(engine: duckdb.DuckDBPyConnection) -> Iterator[Refused]:
    """Refuse the rows that name no store: they belong to no receipt."""
    unplaced = "select kind, file, row, fault from taken where store is null and skipped is null"
    for kind, file, row, fault in stream(engine, unplaced):
        yield Refused(kind, file, row, (fault,), ())


def announce_catalog(
    engine: duckdb.DuckDBPyConnection, mapping: Mapping, at_ms: int, first_ms: int
) -> Iterator[Issued]:
    """Stores, products, prices and opening stock, as of `at_ms`; they hold from `first_ms` on."""
    since = {"event_time": at_ms, "effective_at": max(at_ms, first_ms)}
    for [store] in stream(engine, f"select distinct store from ({GOOD}) order by 1"):
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
    for sku, name, category, measure in stream(engine, PRODUCT):
        described = {
            "sku": sku,
            "name": (name or sku)[:200],
            "category": (category or "unknown")[:64],
            **mapping.products.model_dump(exclude={"name", "category"}),
            **_give_measure(measure),
        }
        yield _announce(PRODUCTS, {**described, **since}, sku)
    if mapping.prices == "usual":
        for sku, price_cents in stream(engine, PRICE):
            price = {"sku": sku, "price_cents": price_cents, **since}
            yield _announce(PRICE_CHANGES, price, sku, first_ms)
    if mapping.opening_stock == "covering":
        for store, sku, units in stream(engine, OPENING):
            shelf = {"store_id": store, "sku": sku, "units": units, "reason": "opening"}
            yield _announce(ADJUSTMENTS, {**shelf, "event_time": at_ms}, store, sku)


def to_outgoing(found: Issued, published_ms: int, edge: Edge = AS_SENT) -> Outgoing | Refused:
    """The record to publish, as the edge replaces its fields, or why the contract rejects it."""
    contract, event = found.contract, found.event
    there = [name for name in contract.times if event.get(name) is not None]
    timed = {**event, **{name: to_instant(event[name]) for name in there}}
    passed = edge.replace(event)
    try:
        build_model(contract).model_validate(timed)
        value = encode(contract, passed)
    except (ValidationError, Unencodable):
        return _refuse(found, find_faults(contract, timed))
    return Outgoing(contract.name, encode_key(contract, passed), value, published_ms)


def _refuse(found: Issued, faults: tuple[Fault, ...]) -> Refused:
    reasons = tuple(dict.fromkeys(map(_render_reason, faults)))
    values = tuple(fault.found for fault in faults)
    entity = found.contract.entity
    return Refused(entity, found.file, found.row, reasons, values, found.event_id)


GOOD = "select * from lines where receipt_fault is null"
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
            partition by store, sku order by happened, kind <> 'receipt', file, row) as short
        from ({GOOD}))
    group by store, sku having max(short) > 0 order by store, sku"""
"""The largest number of units that the shelf lacked, over all its sales."""


def _issue_event(mapping: Mapping, lines: list[Line]) -> Issued | Refused:
    first = lines[0]
    event_id, kind = first.event_id, first.kind
    if first.receipt_fault is not None:
        bad = next((line for line in lines if line.fault), first)
        return Refused(kind, bad.file, bad.row, (first.receipt_fault,), (), event_id=event_id)
    shared = {"event_id": event_id, "event_time": first.issued, "store_id": first.store}
    if kind == "adjustment":
        reason = first.correction or mapping.corrections
        moved = {"sku": first.sku, "units": first.units, "reason": reason}
        return Issued(ADJUSTMENTS, {**shared, **moved}, first.file, first.row)
    optional = {"card_token": _find(lines, "card"), "customer_id": _find(lines, "customer")}
    event = {
        **shared,
        "register_id": _find(lines, "register_id") or "till",
        "cashier_id": _find(lines, "cashier") or "nobody",
        **{name: value for name, value in optional.items() if value},
        "lines": [
            {
                "sku": line.sku,
                "units": line.units,
                "unit_price_cents": line.price_cents,
                **_give_measure(line.measure),
            }
            for line in lines
        ],
    }
    contract = RECEIPTS if kind == "receipt" else REFUNDS
    return Issued(contract, event, first.file, first.row)


def _find(lines: list[Line], field: str) -> str | None:
    """What stands on the receipt's first row that says it."""
    for line in lines:
        if found := getattr(line, field):
            return str(found)
    return None


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
