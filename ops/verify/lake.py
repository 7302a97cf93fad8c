"""The lake's tables of views, each compared with its changelog at the marker of its newest version.

The lake may go on meanwhile: a version stays what it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts import CONTRACTS, Contract
from contracts.consumer import CONSUMERS
from contracts.times import to_epoch_ms
from infra.kafka import UnknownTopic, create_admin, find_offsets_at
from infra.lake import find_newest_version, locate_folders
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, read_newest_rows
from ops.generations.record import get_wall_now
from ops.verify.comparison import Comparison, compare_view
from pipelines.lake.views import VIEWS, ViewCoverage, locate_view


@dataclass(frozen=True)
class TableCheck:
    """A version of a table, and whether it is the view at its marker."""

    name: str
    version: int
    marker: int
    comparison: Comparison | None
    """The table's rows as the live ones, the changelog's as the oracle's. None: the changelog no
    longer tells what the view was."""

    @property
    def agrees(self) -> bool:
        return self.comparison is None or self.comparison.agrees

    def describe_deviation(self) -> str | None:
        """What differs, or why nothing was compared; None: nothing differs."""
        if self.comparison is None:
            return f"{self.name} not compared: its changelog has gone on without the lake for long"
        return None if self.agrees else self.comparison.describe(self.name)


def check_tables(settings: Settings, pipeline: str) -> Iterator[TableCheck]:
    """Those of the pipeline's views that the lake has a table of. Raises as `read_between` does."""
    for name in sorted(VIEWS.keys() & set(CONSUMERS[pipeline].writes)):
        view = CONTRACTS[name]
        folder = locate_view(locate_folders(settings), view).folder
        if (version := find_newest_version(folder)) >= 0:
            yield check_table(settings, view, version)


def check_table(settings: Settings, view: Contract, version: int) -> TableCheck:
    """Compare a version of the view's table."""
    table, comparison = locate_view(locate_folders(settings), view), None
    coverage = ViewCoverage.read(table.folder, version)
    if has_all_of(settings, view, coverage):
        found = read_newest_rows(settings, ALL_FIELDS, view, {}, coverage.outputs)
        expected = [*map(dict, found.values())]
        comparison = compare_view(view, table.read(version), expected)
    return TableCheck(f"gold.{VIEWS[view.name]}", version, coverage.marker, comparison)


def has_all_of(settings: Settings, view: Contract, coverage: ViewCoverage) -> bool:
    """Whether the changelog still has what was the newest row of each key there.

    Kafka may remove a row once a later one of its key is older than the lag of the compaction. Half
    of that leaves time to read.
    """
    lag_ms = int(view.settings.config["min.compaction.lag.ms"])
    since_ms = to_epoch_ms(get_wall_now()) - lag_ms // 2
    topics = {topic for topic, _ in coverage.outputs}
    try:
        young = find_offsets_at(create_admin(settings), topics, since_ms)
    except UnknownTopic:  # of a generation that was removed
        return False
    return all(offset <= coverage.outputs[place] for place, offset in young.items())
