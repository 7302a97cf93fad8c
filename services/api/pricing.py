"""Follows the price changes, a topic of record: no pipeline makes a view of it."""

import logging
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic

from contracts import PRICE_CHANGES
from contracts.judging import Rejection, instant, judge
from services.api.changelog import End, Log, Record
from services.api.database import Unusable, connect
from services.api.materializer import OpenLog
from services.api.pricebook import Change, Pricebook, keep, progress

RETRY_SECONDS = 1.0
CHECK_SECONDS = 1.0

log = logging.getLogger("api.pricing")


class Pricing:
    """A thread, the only writer of its file."""

    def __init__(self, open_log: OpenLog, path: Path) -> None:
        self.book = Pricebook(path)
        self.loaded = False  # whether the log was once read to its end
        self.trouble: str | None = None
        self._open_log = open_log
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pricing", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except Exception as error:
                self.trouble = str(error)
                log.warning("%s; going on in %.1f s", error, RETRY_SECONDS)
                log.debug("prices", exc_info=True)
                self._stop.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        with self._open_log([PRICE_CHANGES.name]) as topic:
            extent = topic.extent()
            topic_id = extent.ids[PRICE_CHANGES.name]
            if not self.book.usable(topic_id):
                log.warning("prices: rebuilding from offset zero")
                self.loaded = False
                self.book.make(topic_id)
            with closing(connect(self.book.path)) as connection:
                start = {**extent.starts, **progress(connection)}
                topic.start(start)
                unread = {at for at, end in extent.ends.items() if start[at] < end}
                next_check = monotonic() + CHECK_SECONDS
                while not self._stop.is_set():
                    self.loaded = self.loaded or not unread
                    arrived = topic.read()
                    unread -= {each.partition for each in arrived if isinstance(each, End)}
                    self._keep(connection, [one for one in arrived if isinstance(one, Record)])
                    self.trouble = None
                    if monotonic() >= next_check:
                        next_check = monotonic() + CHECK_SECONDS
                        self._look_after(topic, topic_id)

    def _look_after(self, topic: Log, topic_id: str) -> None:
        if topic.ids()[PRICE_CHANGES.name] != topic_id:
            raise Unusable(f"{PRICE_CHANGES.name} was deleted and made anew")
        if not self.book.path.exists():
            raise Unusable(f"{self.book.path} is gone")

    def _keep(self, connection: sqlite3.Connection, records: Sequence[Record]) -> None:
        if records:
            changes = [one for record in records if (one := _change(record)) is not None]
            reached = {record.partition: record.offset + 1 for record in records}
            keep(connection, changes, reached)


def _change(record: Record) -> Change | None:
    """The change in a record; None where it is rejected, as quarantine will say."""
    event = judge(PRICE_CHANGES, record.key, record.value, record.published_ms)
    if isinstance(event, Rejection):
        log.info("%s/%d at %d: %s", *record.partition, record.offset, event.reason)
        return None
    times = (event["event_time"], event["effective_at"], record.published_ms)
    if any(instant(at) is None for at in times):
        return None  # no calendar has it, so nobody can ask for it
    return Change(
        partition=record.partition[1],
        offset=record.offset,
        event_id=event["event_id"],
        sku=event["sku"],
        price_cents=event["price_cents"],
        event_time=times[0],
        effective_at=times[1],
        published_at=times[2],
    )
