"""The oracle of the visits: who came when, by a batch read of the log."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from audit.inventory import Book, Place, query
from audit.limits import load_thresholds
from audit.log import read
from audit.tables import Row, Tables
from contracts import VISITS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Partition, Record
from infra.settings import Settings
from pipelines.visits.thresholds import Thresholds

TIMES = ("visit_start", "visit_end", "window_end")
MINUTE_MS = 60_000


class VisitsOracle:
    """What some records say, loaded once, to be asked."""

    def __init__(self, records: Iterable[Record], limits: Thresholds, ends: Offsets) -> None:
        self.ends = ends
        self._tables = Tables(records)
        pause_ms = limits.pause_minutes * MINUTE_MS
        self._tables.engine.execute(f"set variable pause = {pause_ms:d}::bigint")

    @property
    def rejected(self) -> Mapping[Place, Collection[str]]:
        return self._tables.rejected

    def views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        found = self._tables.engine.sql(query("visit")).to_arrow_table().to_pylist()
        return {VISITS.name: [restore_times(row) for row in found]}

    def books(self) -> dict[Partition, Book]:
        """What became of each record: counted one by one, not derived from each other."""
        return self._tables.books(self.ends)


def restore_times(row: Row) -> Row:
    """The row with its times as times."""
    return {**row, **{name: EPOCH + row[name] * MILLISECOND for name in TIMES}}


def visits_oracle(settings: Settings, ends: Offsets, code: Path) -> VisitsOracle:
    """The oracle of a log below some offsets, by the thresholds that stand in that code."""
    return VisitsOracle(read(settings, ends), load_thresholds(code, "visits"), ends)
