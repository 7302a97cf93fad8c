"""Which rows match a filter, and which of them began or ceased to."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contracts import Contract
from contracts.consumer import create_reader
from infra.errors import UserError
from ops.control.reading import Reader
from services.api.store.changelog import Record, read_row
from services.api.store.tables import VERSION, Table
from services.subscriptions.conditions import parse_filter
from services.subscriptions.records import Notification, Subscription
from services.times import to_ms

ROWS_MAX = 20_000

READER = Reader(create_reader("subscriptions"))


class TooManyRows(UserError):
    """More rows have matched than are remembered."""

    def __init__(self) -> None:
        super().__init__(
            f"Expected at most {ROWS_MAX} rows that match or did, found more. Remove the "
            "subscription, and subscribe with a filter that fewer rows match."
        )


class Known(NamedTuple):
    """What is known of a row that matches, or did."""

    generation: int
    version: int
    matches: bool
    began_at: int | None


class Matching:
    """Remembers, by key, whether each row matched; only a change of that is a notification."""

    def __init__(self, subscription: Subscription, view: Contract) -> None:
        self.known: dict[str, Known] = {}
        self._id = subscription.subscription_id
        self._table = Table(view)
        self._conditions = parse_filter(view, subscription.filters)
        self._version_at = self._table.columns.index(VERSION)
        self._began_at = self._table.columns.index(view.began) if view.began else None
        self._retention_ms = to_ms(view.retention) if view.retention else None
        self._newest_ms = 0

    def remember(self, one: Notification) -> None:
        """Take up a notification that was made before."""
        self._learn(one)
        self._newest_ms = max(self._newest_ms, one.began_at or 0)

    def follow(self, generation: int, change: Record) -> Notification | None:
        """The notification of a changed row, if it is one; raises TooManyRows."""
        judged = self._judge(generation, change)
        return judged and self._settle(judged)

    def compare(self, generation: int, changes: Iterable[Record]) -> Iterator[Notification]:
        """Notifications of what a whole changelog says otherwise than is known, by key and match.

        A row counts as it is at the end. A known row that the changelog does not have has ceased to
        match.
        """
        latest = self._find_latest(generation, changes)
        gone = [
            Notification(
                subscription_id=self._id,
                row_key=key,
                generation=generation,
                version=0,
                matches=False,
                began_at=one.began_at,
            )
            for key, one in self.known.items()
            if one.matches and key not in latest
        ]
        for one in (*latest.values(), *gone):
            if not self._is_over(one.began_at) and (made := self._settle(one)):
                yield made

    def _find_latest(self, generation: int, changes: Iterable[Record]) -> dict[str, Notification]:
        """The last state of each row that matches, or is known; by version, not by offset."""
        latest: dict[str, Notification] = {}
        versions: dict[str, int] = {}
        for change in changes:
            judged = self._judge(generation, change)
            if judged is None or judged.version < versions.get(judged.row_key, 0):
                continue
            key, is_known = judged.row_key, judged.row_key in self.known
            if judged.matches or is_known or key in versions:
                versions[key] = judged.version
            latest.pop(key, None)
            if judged.matches or is_known:
                latest[key] = judged
            if len(latest) > ROWS_MAX:
                raise TooManyRows
        return latest

    def drop_expired(self) -> list[str]:
        """Forget the rows that the view does not keep any more; returns their keys."""
        expired = [key for key, one in self.known.items() if self._is_over(one.began_at)]
        for key in expired:
            del self.known[key]
        return expired

    def _judge(self, generation: int, change: Record) -> Notification | None:
        """The state of a row; None of a record without one, or of a row that is not kept."""
        row = None if change.value is None else read_row(self._table.contract, change, READER)
        if row is None:
            return None
        stored = self._table.to_stored(row)
        began_at = None if self._began_at is None else stored[self._began_at]
        self._newest_ms = max(self._newest_ms, began_at or 0)
        if self._is_over(began_at):
            return None
        return Notification(
            subscription_id=self._id,
            row_key=change.key.decode(errors="replace"),
            generation=generation,
            version=stored[self._version_at],
            matches=all(one.holds(stored) for one in self._conditions),
            partition=change.partition[1],
            offset=change.offset,
            row=json.dumps(self._table.to_json(stored), separators=(",", ":"), ensure_ascii=False),
            published_at=change.published_ms,
            began_at=began_at,
        )

    def _settle(self, judged: Notification) -> Notification | None:
        """Learn the row's state; returns it if the row began or ceased to match."""
        before = self.known.get(judged.row_key)
        if before is None and not judged.matches:
            return None
        if (
            before is not None
            and before.generation == judged.generation
            and before.version >= judged.version > 0
        ):
            return None  # written twice, or an older one after a newer one
        self._learn(judged)
        return judged if judged.matches != (before is not None and before.matches) else None

    def _learn(self, one: Notification) -> None:
        self.known[one.row_key] = Known(one.generation, one.version, one.matches, one.began_at)
        if len(self.known) > ROWS_MAX:
            raise TooManyRows

    def _is_over(self, began_at: int | None) -> bool:
        if self._retention_ms is None or began_at is None:
            return False
        return began_at < self._newest_ms - self._retention_ms
