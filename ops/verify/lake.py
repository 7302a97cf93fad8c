"""The lake's tables of views, each compared with its changelog at the marker of its newest version.

The lake may go on meanwhile: a version stays what it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts import CONTRACTS, Contract
from contracts.consumer import CONSUMERS
from contracts.times import to_epoch_ms
from infra.kafka import UnknownTopic, create_admin, read_end_offsets
from infra.lake import find_newest_version, locate_folders, read_committed_ms
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, read_newest_rows
from ops.generations.record import get_wall_now
from ops.verify.comparison import Comparison, compare_view
from pipelines.lake.views import VIEWS, Position, locate_view


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
    table = locate_view(locate_folders(settings), view)
    position, rows = Position.read(table.folder, version), table.read(version)
    comparison = None
    try:
        found = read_newest_rows(settings, ALL_FIELDS, view, {}, position.outputs)
        if is_whole(settings, view, position, read_committed_ms(table.folder, version)):
            comparison = compare_view(view, rows, [*map(dict, found.values())])
    except UnknownTopic:
        pass  # of a generation that was removed
    return TableCheck(f"gold.{VIEWS[view.name]}", version, position.marker, comparison)


def is_whole(settings: Settings, view: Contract, position: Position, committed_ms: int) -> bool:
    """Whether the changelog still has the newest row of each key at this position.

    Kafka may remove it once a later row of the key is older than the compaction's lag. Half of that
    is on the safe side of the time between the marker and the commit.
    """
    age_ms = to_epoch_ms(get_wall_now()) - committed_ms
    if age_ms < int(view.settings.config["min.compaction.lag.ms"]) // 2:
        return True
    topics = {topic for topic, _ in position.outputs}
    return read_end_offsets(create_admin(settings), topics) == position.outputs
