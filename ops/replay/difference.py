"""The difference between two answers of a view: keys, totals, and the rows that changed most."""

from dataclasses import dataclass, field
from typing import Any


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
class Period:
    """The numbers of rows of a period that were added, removed or changed."""

    begins: str
    added: int
    removed: int
    changed: int


@dataclass(frozen=True)
class Sample:
    """A differing row: its key, and its fields before and after; empty if it did not exist."""

    key: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    cause: str | None = None
    """Why it differs; None: unknown."""


@dataclass(frozen=True)
class Difference:
    """The difference of one view."""

    view: str
    before: int
    after: int
    """Rows."""
    added: int
    removed: int
    changed: int
    totals: tuple[Total, ...]
    facets: tuple[Facet, ...]
    periods: tuple[Period, ...]
    largest: tuple[Sample, ...]
    """The rows that changed most, relative to their field; then some added and removed ones."""

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed or self.changed)
