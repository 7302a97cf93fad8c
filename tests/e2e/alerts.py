"""Alerts of a shop: those served, those that other thresholds find, and clients that list them."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from contracts import ALERTS as ALERT
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import create_admin, read_end_offsets, read_newest_ms
from infra.settings import locate_root
from infra.wait import wait_until
from ops.verify.oracles import ask_oracle
from pipelines.common.pipeline import load
from tests.e2e.generations import READY_SECONDS_MAX
from tests.e2e.shop import Shop

THRESHOLDS = "pipelines/fraud/thresholds.py"
ALERTS = f"/v1/views/{ALERT.name}/rows"
READS_MIN = 200
CLIENTS = 3

Listings = list[list[int]]
"""The observations of a client: the generation of each page, by listing."""
ALERTS_MIN = 10
LIMIT = "card_sales_per_window_max"
STRICTER = f"{LIMIT}=3"


def await_alerts(shop: Shop, stricter: Path) -> None:
    """Wait for alerts, some of them about cards, and for further ones by lower thresholds."""

    def there() -> bool:
        counts = count_by_rule(shop)
        return bool(
            sum(counts.values()) >= ALERTS_MIN
            and counts["card-velocity"] > 0
            and find_alerts(shop, stricter) - find_alerts(shop, locate_root())
        )

    wait_until(there, "alerts", READY_SECONDS_MAX)


def find_alerts(shop: Shop, code: Path) -> set[tuple[str, ...]]:
    """The keys of the oracle's alerts by the thresholds of this code, of intervals that are over.

    An open interval may yet raise an alert under any threshold.
    """
    client, topics = create_admin(shop.settings), [topic.name for topic in load("fraud").inputs]
    now = EPOCH + max(read_newest_ms(client, topics).values()) * MILLISECOND
    oracle = ask_oracle("fraud", shop.settings, read_end_offsets(client, topics), code)
    alerts = oracle.compute_views()[ALERT.name]
    over = [row for row in alerts if row["interval_end"] <= now]
    return {tuple(str(row[name]) for name in ALERT.key) for row in over}


def count_by_rule(shop: Shop) -> dict[str, int]:
    """The number of served alerts by rule."""
    counts: dict[str, int] = {"card-velocity": 0}
    cursor = ""
    while True:
        page = shop.get(f"{ALERTS}?limit=100{cursor}")
        for alert in page["items"]:
            counts[alert["rule"]] = counts.get(alert["rule"], 0) + 1
        if page["next"] is None:
            return counts
        cursor = f"&cursor={page['next']}"


def await_reads(seen: Sequence[Listings]) -> None:
    """Wait until each client has read on for a while."""
    before = [len(own) for own in seen]
    wait_until(
        lambda: all(
            len(own) > so_far + READS_MIN for own, so_far in zip(seen, before, strict=True)
        ),
        "each client reads on",
        READY_SECONDS_MAX,
    )


@contextmanager
def reading(shop: Shop) -> Iterator[Sequence[Listings]]:
    """Clients that list alerts page by page, and the observations of each."""
    seen: list[Listings] = [[] for _ in range(CLIENTS)]
    stop, trouble = threading.Event(), list[Exception]()

    def served_by() -> list[int]:
        pages: list[Any] = [shop.get(f"{ALERTS}?limit=2")]
        while pages[-1]["next"] and len(pages) < 3:
            pages.append(shop.get(f"{ALERTS}?limit=2&cursor={pages[-1]['next']}"))
        return [page["as_of"]["generation"] for page in pages]

    def read(own: Listings) -> None:
        try:
            while not stop.is_set():
                try:
                    own.append(served_by())
                except HTTPError as refused:  # a promotion has ended this listing
                    if refused.code != HTTPStatus.GONE:
                        raise
        except Exception as error:  # the thread's error is raised below
            trouble.append(error)

    threads = [threading.Thread(target=read, args=(own,)) for own in seen]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert trouble == []
