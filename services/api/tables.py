"""A view's table, derived from its contract: a column per field, keyed as the view is."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import STOCK_LEVELS, Contract
from services.api.marker import epoch_ms

INDEXED = {STOCK_LEVELS.name: ("sku", "units_on_hand", "last_event_time")}
"""Columns that the routes look for or sort by, other than the key and the time in it; SQLite adds
the key to each."""

VERSION = "version"  # by contract the number of events applied to a row
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Stored = tuple[Any, ...]
"""A row as SQLite holds it: the contract's fields in order, timestamps as epoch ms."""


class Table:
    """The SQL of one view and the way of its values into it and out of it.

    `create` makes the table, `upsert` writes a row unless a newer version is there already,
    `prune` removes rows whose retention is over, `select` begins a query over all fields, and
    `select_one` takes a key.
    """

    def __init__(self, contract: Contract, key: Sequence[str] = ()) -> None:
        """Key: the fields that a row is known by, where they are not those of the contract."""
        key = tuple(key) or contract.key
        kinds = {field.name: KINDS[field.type] for field in contract.fields}
        names = tuple(kinds)
        rest = [name for name in names if name not in key]
        columns = ", ".join(f"{_quoted(name)} {kind.sql}" for name, kind in kinds.items())
        updates = ", ".join(f"{_quoted(name)} = excluded.{_quoted(name)}" for name in rest)
        self.contract = contract
        self.view = contract.name
        self.name = _quoted(contract.name)
        self.columns = names
        self.key = key
        self.types = {name: PYTHON[kind.sql] for name, kind in kinds.items()}
        self.create = (
            f"create table {self.name} ({columns}, primary key ({_listed(key)})) without rowid",
            *(
                f"create index {_quoted(f'{contract.name} by {column}')} "
                f"on {self.name} ({_quoted(column)})"
                for column in _indexed(contract)
            ),
        )
        self.upsert = (
            f"insert into {self.name} ({_listed(names)}) values ({_places(names)}) "
            f"on conflict ({_listed(key)}) do update set {updates} "
            f"where excluded.{VERSION} >= {self.name}.{VERSION}"
        )
        self.select = f"select {_listed(names)} from {self.name}"
        conditions = " and ".join(f"{_quoted(name)} = ?" for name in key)
        self.select_one = f"{self.select} where {conditions}"
        self.oldest = _oldest(self.name, contract)
        self.prune = (
            f"delete from {self.name} where {contract.began} < ({self.oldest})"
            if self.oldest
            else None
        )
        self._key_at = tuple(names.index(name) for name in key)
        self._into = tuple((name, kind.into) for name, kind in kinds.items())
        self._out = tuple((name, kind.out) for name, kind in kinds.items())

    def stored(self, value: Mapping[str, Any]) -> Stored:
        """A decoded row as it is kept."""
        return tuple(into(value[name]) for name, into in self._into)

    def key_of(self, row: Stored) -> Stored:
        """The key of a row as it is kept."""
        return tuple(row[at] for at in self._key_at)

    def shown(self, row: Sequence[Any]) -> dict[str, Any]:
        """A kept row as readers see it in JSON."""
        return {name: out(kept) for (name, out), kept in zip(self._out, row, strict=True)}


def _indexed(contract: Contract) -> tuple[str, ...]:
    began = contract.began
    time = (began,) if began and began != contract.key[0] else ()
    return (*INDEXED.get(contract.name, ()), *time)


def _oldest(table: str, contract: Contract) -> str | None:
    """Asks for the earliest time that is kept, in epoch ms; None where all rows are.

    The newest row says what time it is: whoever reads the same rows keeps the same.
    """
    if contract.retention is None:
        return None
    return f"select max({contract.began}) - {in_ms(contract.retention)} from {table}"


class _Kind:
    """How values of one type are kept, and how they are shown."""

    def __init__(
        self,
        sql: str,
        into: Callable[[Any], Any] = lambda value: value,
        out: Callable[[Any], Any] = lambda kept: kept,
    ) -> None:
        self.sql = sql
        self.into = into
        self.out = out


def in_ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def instant(kept_ms: int) -> str:
    """Epoch milliseconds as readers see them: ISO 8601, UTC."""
    moment = EPOCH + timedelta(milliseconds=kept_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def base64_text(kept: bytes) -> str:
    return b64encode(kept).decode()


def plain(value: Any) -> Any:
    """A decoded value as readers see it in JSON."""
    return json.loads(_nested(value))


def _nested(value: Any) -> str:
    return json.dumps(value, default=_text)


def _text(value: Any) -> str:
    return base64_text(value) if isinstance(value, bytes) else instant(epoch_ms(value))


def _unless_none(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else function(value)


instant_or_none: Callable[[int | None], str | None] = _unless_none(instant)


KINDS = {
    "string": _Kind("text"),
    "bytes": _Kind("blob", out=_unless_none(base64_text)),
    "int": _Kind("integer"),
    "long": _Kind("integer"),
    "boolean": _Kind("integer", out=_unless_none(bool)),
    "timestamp": _Kind("integer", _unless_none(epoch_ms), instant_or_none),
    "array": _Kind("text", _unless_none(_nested), _unless_none(json.loads)),
}
"""By the type of a contract's field."""


PYTHON: Mapping[str, type] = {"text": str, "blob": bytes, "integer": int}
"""What SQLite hands out."""


def _quoted(name: str) -> str:
    return f'"{name}"'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_quoted(name) for name in names)


def _places(names: Sequence[str]) -> str:
    return ", ".join("?" for _ in names)
