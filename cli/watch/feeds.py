"""The requests of the overview: their intervals, and the last answers."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cli.watch.client import Client, Refused, Unreachable
from cli.watch.sales import load_minutes

RETRY_SECONDS = 2.0
"""The time from a failed attempt to the next one."""

Load = Callable[[Client], Any]


@dataclass
class Feed:
    """One part of the overview."""

    load: Load
    every_seconds: float
    value: Any = None
    """The last good answer; None before there was one."""
    received_at: float | None = None
    """The time of that answer, by the monotonic clock."""
    problem: str | None = None
    """Why the last attempt failed."""
    due_at: float = 0.0

    def poll(self, client: Client, now: float) -> None:
        """Ask. Raises Unreachable."""
        try:
            self.value = self.load(client)
        except Refused as refused:
            self.problem, self.due_at = str(refused), now + RETRY_SECONDS
        else:
            self.problem, self.received_at, self.due_at = None, now, now + self.every_seconds


def ask(path: str) -> Load:
    return lambda client: client.ask(path)


class Feeds:
    """Every part of the overview, asked in this order."""

    def __init__(self, client: Client, moment: Callable[[], float] = monotonic) -> None:
        self.moment = moment
        self.clock = Feed(ask("/v1/clock"), 5)
        self.pipelines = Feed(ask("/v1/pipelines"), 3)
        self.sales = Feed(load_minutes, 5)
        self.best = Feed(ask("/v1/best-sellers?top=10"), 5)
        self.empty = Feed(ask("/v1/stock?state=out&sort=-last_event_time&limit=50"), 5)
        self.low = Feed(ask("/v1/stock?state=low&low_max=5&sort=units_on_hand&limit=50"), 5)
        self.negative = Feed(ask("/v1/stock?state=negative&sort=units_on_hand&limit=50"), 5)
        self.alerts = Feed(ask("/v1/alerts?status=open&limit=100"), 3)
        self.orders = Feed(ask("/v1/orders?limit=50"), 5)
        self.address = client.address
        self.gone_since: float | None = None
        """Since when the API is silent, by the monotonic clock; None: the API answers."""
        self._client = client
        self._retry_at = 0.0

    @property
    def all(self) -> tuple[Feed, ...]:
        return (
            *(self.clock, self.pipelines, self.sales, self.best, self.empty),
            *(self.low, self.negative, self.alerts, self.orders),
        )

    def poll(self) -> None:
        """Send the due requests. Without an answer the rest waits too."""
        now = self.moment()
        if now < self._retry_at:
            return
        for feed in self.all:
            if feed.due_at > now:
                continue
            try:
                feed.poll(self._client, now)
            except Unreachable:
                self.gone_since = self.gone_since if self.gone_since is not None else now
                self._retry_at = now + RETRY_SECONDS
                return
        self.gone_since = None
