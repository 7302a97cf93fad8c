"""The difference between two answers of a view, found in DuckDB: all of their rows, by key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from contracts import Contract
from contracts.shape import Field

SAMPLES_MAX = 5
FACETS_MAX = 12
"""A text field with more values is no facet: it identifies rows and does not classify them."""

ENGINE: Mapping[str, str | int] = {"threads": 2, "memory_limit": "512MB"}
"""The API compares in a container of 1 GiB, while it answers."""

NUMBERS = frozenset({"int", "long"})

# Timestamps have no zone, as the engine has no default zone: all are UTC.
TYPES: Mapping[str, str] = {
    "string": "VARCHAR",
    "int": "BIGINT",
    "long": "BIGINT",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}


@dataclass(frozen=True)
class Total:
    """The sum of a field over all rows, before and after."""

    field: str
    before: int
    after: int


@dataclass(frozen=True)
class Facet:
    """The number of rows with a value of a text field, before and after."""

    field: str
    value: str
    before: int
    after: int


@dataclass(frozen=True)
class Sample:
    """A differing row: its key, and its fields before and after; empty if it did not exist."""

    key: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    view: str
    before: int
    after: int
    """Rows."""
    added: int
    removed: int
    changed: int
    totals: tuple[Total, ...]
    facets: tuple[Facet, ...]
    largest: tuple[Sample, ...]
    """The rows that changed most, relative to their field; then some added and removed ones."""

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


class Comparison:
    """Two answers of one view, as tables `before` and `after` of an engine."""

    def __init__(
        self, contract: Contract, before: str, after: str, since: str | None, spill: Path
    ) -> None:
        """`before` and `after` are relations in the engine's SQL. Data that does not fit in
        memory goes to the folder `spill`, as the working directory may be read-only.

        Of a view with a retention, it compares only the rows that begin at `since` or later.
        """
        self._contract = contract
        self._engine = duckdb.connect(config={**ENGINE, "temp_directory": str(spill)})
        fields = ", ".join(
            f'cast("{each.name}" as {get_sql_type(each)}) as "{each.name}"'
            for each in contract.fields
        )
        began = contract.began
        kept = f" where \"{began}\" >= timestamp '{since}'" if began and since else ""
        for name, source in (("before", before), ("after", after)):
            self._run(f"create table {name} as select {fields} from {source}{kept}")
        same = " and ".join(f'b."{name}" = a."{name}"' for name in contract.key)
        differs = " or ".join(f'b."{name}" is distinct from a."{name}"' for name in self._values)
        self._run(
            f"create view changed as select b as b, a as a from before b join after a on {same} "
            f"where {differs or 'false'}"
        )
        for name, relation, other in (("removed", "before", "after"), ("added", "after", "before")):
            self._run(
                f"create view {name} as select * from {relation} b "
                f"where not exists (select 1 from {other} a where {same})"
            )

    def compute(self) -> Difference:
        added, removed, changed = (self._count(name) for name in ("added", "removed", "changed"))
        differs = added or removed or changed
        return Difference(
            view=self._contract.name,
            before=self._count("before"),
            after=self._count("after"),
            added=added,
            removed=removed,
            changed=changed,
            totals=tuple(self._totals()),
            facets=tuple(self._facets()) if differs else (),
            largest=tuple(self._largest()) if differs else (),
        )

    @property
    def _values(self) -> list[str]:
        """The fields beside the key."""
        names = (column.name for column in self._contract.fields)
        return [name for name in names if name not in self._contract.key]

    @property
    def _numbers(self) -> list[str]:
        """Those that can be added up."""
        numbers = {column.name for column in self._contract.fields if column.type in NUMBERS}
        return [name for name in self._values if name in numbers and name != "version"]

    def _totals(self) -> Iterator[Total]:
        for name in self._numbers:
            query = "select {} from {}"
            total = f'coalesce(sum("{name}"), 0)::bigint'
            [[before]] = self._run(query.format(total, "before"))
            [[after]] = self._run(query.format(total, "after"))
            yield Total(name, before, after)

    def _facets(self) -> Iterator[Facet]:
        """The facets of text fields with few values whose numbers of rows changed."""
        for column in self._contract.fields:
            if column.type != "string":
                continue
            counts = (
                f'select "{column.name}" as value, count(*) filter (old) as before, '
                "count(*) filter (not old) as after from "
                f'(select true as old, "{column.name}" from before '
                f'union all select false, "{column.name}" from after) group by 1 order by 1 '
                f"limit {FACETS_MAX + 1}"
            )
            values = self._run(counts)
            if len(values) <= FACETS_MAX and any(before != after for _, before, after in values):
                for value, before, after in values:
                    yield Facet(column.name, "none" if value is None else value, before, after)

    def _largest(self) -> Iterator[Sample]:
        """The largest changes, relative to their field's mean, so that cents do not drown units. An
        absent number counts as zero.
        """
        moved = " + ".join(
            f'abs(coalesce(a."{name}", 0) - coalesce(b."{name}", 0))'
            f' / (select 1 + coalesce(avg(abs("{name}")), 0) from before)'
            for name in self._numbers
        )
        query = f"select b, a from changed order by {moved or '0'} desc, b::varchar limit {{}}"
        for before, after in self._run(query.format(SAMPLES_MAX)):
            moved_fields = [name for name in self._values if before[name] != after[name]]
            yield Sample(
                self._key(before),
                {name: before[name] for name in moved_fields},
                {name: after[name] for name in moved_fields},
            )
        for kind in ("added", "removed"):
            query = f"select b from {kind} b order by b::varchar limit {SAMPLES_MAX}"
            for (row,) in self._run(query):
                values = {name: row[name] for name in self._values}
                key = self._key(row)
                yield Sample(key, {}, values) if kind == "added" else Sample(key, values)

    def _key(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: row[name] for name in self._contract.key}

    def _count(self, table: str) -> int:
        [[count]] = self._run(f"select count(*) from {table}")
        return int(count)

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        return self._engine.execute(sql).fetchall()


def render_json_lines(contract: Contract, file: Path) -> str:
    """The relation of rows in the API's JSON lines."""
    columns = ", ".join(f"'{column.name}': '{get_sql_type(column)}'" for column in contract.fields)
    return f"read_json({quote(file)}, format = 'newline_delimited', columns = {{{columns}}})"


def render_parquet(folder: Path) -> str:
    """The relation of rows in Spark's Parquet files."""
    return f"read_parquet({quote(folder / '*.parquet')})"


def get_sql_type(column: Field) -> str:
    """The engine's type of a field. Raises KeyError for a type that no view has yet."""
    if column.fields:
        members = ", ".join(f'"{each.name}" {get_sql_type(each)}' for each in column.fields)
        return f"STRUCT({members})[]"
    return TYPES[column.type]


def quote(path: Path) -> str:
    """The path as a text of SQL."""
    return "'" + str(path).replace("'", "''") + "'"
