"""A view's table, derived from its contract, and selections of its rows in an order."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contracts import PROPOSALS, STOCK_LEVELS, Contract, Row
from contracts.times import to_epoch_ms
from services.times import render_instant, render_instant_or_none, to_ms

INDEXED: Mapping[str, tuple[str, ...]] = {
    STOCK_LEVELS.name: ("sku", "units_on_hand", "last_event_time"),
    PROPOSALS.name: ("sku",),
}
"""Columns that routes filter or sort by, beyond the key and its time.
SQLite adds the key to each."""

VERSION = "version"  # by contract, the number of events applied to a row

Stored = tuple[Any, ...]
"""A row as SQLite holds it: the contract's fields in order, timestamps as epoch ms."""

Document = dict[str, object]
"""A JSON object that the API renders."""

AnyJson = dict[str, Any]
"""A JSON object of any shape: what others wrote, or a schema."""


class Table:
    """The SQL of one view, and the conversion of its values into SQLite and out of it.

    `create` makes the table, `upsert` writes a row unless a newer version is there already,
    `prune` removes rows whose retention is over, `select` begins a query over all fields, and
    `select_one` takes a key. `select_marked` does so, and puts the marker before the row.
    """

    def __init__(self, contract: Contract, key: Sequence[str] = ()) -> None:
        """`key`: the fields of the primary key, where they differ from the contract's."""
        key = tuple(key) or contract.key
        kinds = {field.name: KINDS[field.type] for field in contract.fields}
        names = tuple(kinds)
        rest = [name for name in names if name not in key]
        indexed = INDEXED.get(contract.name, ())
        if contract.began is not None and contract.began != contract.key[0]:
            indexed = (*indexed, contract.began)
        columns = ", ".join(f"{_quote(name)} {kind.sql}" for name, kind in kinds.items())
        updates = ", ".join(f"{_quote(name)} = excluded.{_quote(name)}" for name in rest)
        self.contract = contract
        self.view = contract.name
        self.name = _quote(contract.name)
        self.columns = names
        self.key = key
        self.types = {name: PYTHON[kind.sql] for name, kind in kinds.items()}
        self.create = (
            f"create table {self.name} ({columns}, primary key ({_list(key)})) without rowid",
            *(
                f"create index {_quote(f'{contract.name} by {column}')} "
                f"on {self.name} ({_quote(column)})"
                for column in indexed
            ),
        )
        self.upsert = (
            f"insert into {self.name} ({_list(names)}) values ({', '.join('?' for _ in names)}) "
            f"on conflict ({_list(key)}) do update set {updates} "
            f"where excluded.{VERSION} >= {self.name}.{VERSION}"
        )
        self.select = f"select {_list(names)} from {self.name}"
        conditions = " and ".join(f"{_quote(name)} = ?" for name in key)
        self.select_one = f"{self.select} where {conditions}"
        self.select_marked = f"select marker, one.* from progress left join ({self.select_one}) one"
        self.oldest = _select_oldest(self.name, contract)
        self.prune = (
            f"delete from {self.name} where {contract.began} < ({self.oldest})"
            if self.oldest
            else None
        )
        self._key_indexes = tuple(names.index(name) for name in key)
        self._into = tuple((name, kind.into) for name, kind in kinds.items())
        self._out = tuple((name, kind.out) for name, kind in kinds.items())

    def to_stored(self, value: Row) -> Stored:
        """A decoded row as SQLite holds it."""
        return tuple(into(value[name]) for name, into in self._into)

    def get_key(self, row: Stored) -> Stored:
        """The key of a stored row."""
        return tuple(row[index] for index in self._key_indexes)

    def to_json(self, row: Sequence[Any]) -> Document:
        """A stored row as clients see it in JSON."""
        return {name: out(kept) for (name, out), kept in zip(self._out, row, strict=True)}


def _select_oldest(table: str, contract: Contract) -> str | None:
    """SQL for the earliest time kept, in epoch ms; None for a view without retention.

    Retention counts from the newest row, so readers of the same rows keep the same rows.
    """
    if contract.retention is None:
        return None
    return f"select max({contract.began}) - {to_ms(contract.retention)} from {table}"


class _Kind(NamedTuple):
    """The storage and the rendering of values of one type."""

    sql: str
    into: Callable[[Any], Any] = lambda value: value
    out: Callable[[Any], Any] = lambda kept: kept


def encode_base64(stored: bytes) -> str:
    return b64encode(stored).decode()


def to_document(values: Mapping[str, object]) -> Document:
    """Decoded values by name, as clients see them in JSON."""
    return {name: json.loads(_dump(value)) for name, value in values.items()}


def _dump(value: Any) -> str:
    return json.dumps(value, default=_render)


def _render(value: Any) -> str:
    return encode_base64(value) if isinstance(value, bytes) else render_instant(to_epoch_ms(value))


def _skip_none(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else function(value)


KINDS = {
    "string": _Kind("text"),
    "bytes": _Kind("blob", out=_skip_none(encode_base64)),
    "int": _Kind("integer"),
    "long": _Kind("integer"),
    "boolean": _Kind("integer", out=_skip_none(bool)),
    "timestamp": _Kind("integer", _skip_none(to_epoch_ms), render_instant_or_none),
    "array": _Kind("text", _skip_none(_dump), _skip_none(json.loads)),
}
"""The kinds by the type of a contract's field."""


PYTHON: Mapping[str, type] = {"text": str, "blob": bytes, "integer": int}
"""The Python type of each SQLite type."""


def _quote(name: str) -> str:
    return f'"{name}"'


def _list(names: Sequence[str]) -> str:
    return ", ".join(_quote(name) for name in names)


WHOLE_MIN, WHOLE_MAX = -(2**63), 2**63 - 1
"""The whole numbers that SQLite can compare."""

Place = tuple[str | int, ...]
"""Values of the columns that rows are sorted by, in their order."""


@dataclass(frozen=True)
class Condition:
    """A condition of a row in SQL, and the values of its placeholders."""

    sql: str
    values: tuple[str | int, ...] = ()


def match(values: Mapping[str, str]) -> tuple[Condition, ...]:
    """One condition per column: it has this value."""
    return tuple(Condition(f"{column} = ?", (value,)) for column, value in values.items())


@dataclass(frozen=True)
class Selection:
    """Rows of a table in an order in which no two are equal."""

    table: Table
    conditions: tuple[Condition, ...]
    order: tuple[str, ...]
    """Columns; they include all of the key."""
    descending: bool

    @property
    def types(self) -> tuple[type, ...]:
        """The types of a place."""
        return tuple(self.table.types[column] for column in self.order)

    def place(self, row: Stored) -> Place:
        """The place of the row in the order."""
        columns = self.table.columns
        return tuple(row[columns.index(column)] for column in self.order)

    def build_query(self, rows_max: int, after: Place | None) -> tuple[str, tuple[str | int, ...]]:
        """SQL and its values: at most `rows_max` rows, after the place or from the beginning."""
        conditions = list(self.conditions)
        if after is not None:
            sign, places = "<" if self.descending else ">", ", ".join("?" for _ in after)
            conditions.append(Condition(f"({', '.join(self.order)}) {sign} ({places})", after))
        where = " and ".join(each.sql for each in conditions)
        order = ", ".join(f"{name} {'desc' if self.descending else 'asc'}" for name in self.order)
        sql = f"{self.table.select}{' where ' if where else ''}{where} order by {order} limit ?"
        return sql, (*(value for each in conditions for value in each.values), rows_max)
