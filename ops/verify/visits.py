"""The oracle of the visits pipeline, by a batch read of the log."""

from collections.abc import Iterable
from pathlib import Path

from contracts import VISITS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Record
from infra.settings import Settings
from ops.verify.accounted import Accounted
from ops.verify.full_sums import fit_sums
from ops.verify.inventory import read_query
from ops.verify.limits import load_thresholds
from ops.verify.log import read
from ops.verify.tables import Row
from pipelines.visits.thresholds import Thresholds

TIMES = ("slot_start", "visit_start", "visit_end", "window_end")
MINUTE_MS = 60_000


class VisitsOracle(Accounted):
    """The visits of some records."""

    def __init__(self, records: Iterable[Record], limits: Thresholds, ends: Offsets) -> None:
        super().__init__(records, ends)
        pause_ms = limits.pause_minutes * MINUTE_MS
        self._tables.engine.execute(f"set variable pause = {pause_ms:d}::bigint")
        self._tables.engine.execute(f"set variable stores_max = {limits.stores_max:d}::bigint")

    def compute_views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        rows = self.select(read_query("visit"))
        return {VISITS.name: [fit_sums(restore_times(row)) for row in rows]}


def restore_times(row: Row) -> Row:
    """The row with its times as datetimes."""
    return {**row, **{name: EPOCH + row[name] * MILLISECOND for name in TIMES}}


def ask_visits_oracle(settings: Settings, ends: Offsets, code: Path) -> VisitsOracle:
    """The oracle of a log below some offsets, by the thresholds in that code."""
    return VisitsOracle(read(settings, ends), load_thresholds(code, "visits"), ends)
