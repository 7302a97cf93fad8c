"""Compares the rows of a view with an oracle's, by digest and row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts import Contract, compute_digest
from ops.verify.inventory import Row

SHOWN_MAX = 5
"""The names of a deviation that are listed."""

Difference = tuple[Row | None, Row | None]
"""A row of the served view, and the oracle's row with the same key; None for a missing one."""


@dataclass(frozen=True)
class Comparison:
    """A served view and the oracle's."""

    view: Contract
    rows: int
    live_digest: str
    oracle_digest: str
    differing: list[Difference]

    @property
    def agrees(self) -> bool:
        return self.live_digest == self.oracle_digest and not self.differing

    def describe(self, what: str) -> str:
        """The number of differing rows of it, by that name, and the keys of the first."""
        rows = [live or oracle or {} for live, oracle in self.differing]
        keys = ["/".join(str(row[name]) for name in self.view.key) for row in rows]
        return f"{len(keys):,} rows of {what} differ: {list_some(keys)}"


def compare_view(view: Contract, live: list[Row], oracle: list[Row]) -> Comparison:
    expected = select_kept(view, oracle)
    return Comparison(
        view=view,
        rows=len(live),
        live_digest=compute_digest(view, live),
        oracle_digest=compute_digest(view, expected),
        differing=list(find_differences(view, live, expected)),
    )


def select_kept(view: Contract, rows: list[Row]) -> list[Row]:
    """The rows within the view's retention, counted from the newest row."""
    if view.retention is None or view.began is None or not rows:
        return rows
    oldest = max(row[view.began] for row in rows) - view.retention
    return [row for row in rows if row[view.began] >= oldest]


def find_differences(view: Contract, live: list[Row], oracle: list[Row]) -> Iterator[Difference]:
    """The pairs of differing rows with the same key."""
    ours, theirs = (
        {tuple(row[field] for field in view.key): row for row in rows} for rows in (live, oracle)
    )
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield ours.get(key), theirs.get(key)


def list_some(names: Sequence[str]) -> str:
    """The first SHOWN_MAX names, and the number of others."""
    more = len(names) - SHOWN_MAX
    shown = ", ".join(names[:SHOWN_MAX])
    return f"{shown} and {more:,} more" if more > 0 else shown
