"""Tables of what is so now: each version is the whole of it, in one file."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from infra.lake import Coverage, find_newest_version, read_committed_ms
from ops.generations.record import get_wall_now
from pipelines.lake.tables import Table

ROWS_PER_SECOND_MAX = 1_000
"""Rows written a second, over time: versions are kept for hours, each of them whole."""

Row = dict[str, Any]


class StateTable(Table):
    """A Delta table that is written whole."""

    def read(self, version: int | None = None) -> list[Row]:
        """The rows now, or at a version. Raises deltalake's TableNotFoundError."""
        return list(DeltaTable(str(self.folder), version).to_pyarrow_table().to_pylist())

    def write(self, rows: Iterable[Mapping[str, Any]], coverage: Coverage) -> None:
        """Make the next version: these rows and no others. The same commit records the coverage."""
        self.renew(pa.Table.from_pylist(list(rows), self.schema), coverage)

    def is_due(self) -> bool:
        """Whether it may have another version: a larger table has fewer."""
        if find_newest_version(self.folder) < 0:
            return True
        committed = datetime.fromtimestamp(read_committed_ms(self.folder) / 1000, UTC)
        age_seconds = (get_wall_now() - committed).total_seconds()
        return age_seconds * ROWS_PER_SECOND_MAX >= DeltaTable(str(self.folder)).count()
