"""Receipts and revenue of the last hour of the world, from the rows of each store's minutes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from cli.watch.client import Client
from cli.watch.words import parse_ms

MINUTE_MS = 60_000
SHOWN_MINUTES = 60
RATE_MINUTES = 5
PAGES_MAX = 4
"""Pages of 500 rows: an hour of some thirty stores. More stores show less than an hour."""
ROWS = "/v1/views/public.analytics.store-sales.v1/rows?order=newest&limit=500"


def load_minutes(client: Client) -> list[dict[str, Any]]:
    """The newest rows, page by page, until an hour of them is there. Raises as `ask` does."""
    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(PAGES_MAX):
        page = client.ask(ROWS if cursor is None else f"{ROWS}&cursor={quote(cursor)}")
        rows += page["items"]
        cursor = page["next"]
        if cursor is None or _get_start(rows[-1]) < _get_start(rows[0]) - SHOWN_MINUTES * MINUTE_MS:
            break
    return rows


@dataclass
class StoreSales:
    """What one store sold in the minutes shown."""

    revenue_cents: int = 0
    receipts: int = 0
    units: int = 0
    cents_by_minute: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """By the beginning of the minute, in epoch milliseconds of world time."""


@dataclass(frozen=True)
class Sales:
    """What all stores sold in the minutes shown."""

    minutes: Sequence[int]
    """The beginnings of the minutes, in epoch milliseconds of world time, oldest first."""
    receipts_by_minute: Mapping[int, int]
    stores: Mapping[str, StoreSales]

    @property
    def revenue_cents(self) -> int:
        return sum(store.revenue_cents for store in self.stores.values())

    @property
    def receipts_per_minute(self) -> float | None:
        """Over the last minutes of the world; None without any."""
        last = self.minutes[-RATE_MINUTES:]
        return sum(self.receipts_by_minute.get(at, 0) for at in last) / len(last) if last else None


def summarize(rows: Sequence[Mapping[str, Any]], counted_ms: float | None) -> Sales | None:
    """The hour's sums; None without rows.

    A minute counts once the pipeline has passed it: `counted_ms` is the world time up to which
    it has counted; None: unknown.
    """
    if not rows:
        return None
    begins = [_get_start(row) for row in rows]
    counted = 0 if counted_ms is None else int(counted_ms) // MINUTE_MS * MINUTE_MS
    end = max(*begins, counted)
    start = max(min(begins), end - SHOWN_MINUTES * MINUTE_MS)
    minutes = range(start, end, MINUTE_MS)
    stores = {store: StoreSales() for store in sorted({str(row["store_id"]) for row in rows})}
    receipts: dict[int, int] = defaultdict(int)
    for row, at in zip(rows, begins, strict=True):
        if start <= at < end:
            receipts[at] += row["receipts"]
            _add(stores[str(row["store_id"])], at, row)
    return Sales(minutes, receipts, stores)


def _add(store: StoreSales, at: int, row: Mapping[str, Any]) -> None:
    store.revenue_cents += row["revenue_cents"]
    store.receipts += row["receipts"]
    store.units += row["units"]
    store.cents_by_minute[at] += row["revenue_cents"]


def _get_start(row: Mapping[str, Any]) -> int:
    return parse_ms(row["window_start"])
