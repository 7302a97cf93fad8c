"""Tables of what is so now: each version is the whole of it, in one file.

delta-rs writes them: for some ten thousand rows a job of Spark would cost more than all the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from infra.folder import Folder
from infra.lake import PROPERTIES, Coverage, find_newest_version, read_committed_ms
from ops.generations.record import get_wall_now

ROWS_PER_SECOND_MAX = 1_000
"""Rows written a second, over time: versions are kept for hours, each of them whole."""

VACUUM_BATCHES = 100
"""The number of versions between two removals of files whose retention is over."""

Row = dict[str, Any]


@dataclass(frozen=True)
class StateTable:
    """A Delta table that is written whole."""

    folder: Folder
    schema: pa.Schema

    def read(self, version: int | None = None) -> list[Row]:
        """The rows now, or at a version. Raises deltalake's TableNotFoundError."""
        return list(DeltaTable(str(self.folder), version).to_pyarrow_table().to_pylist())

    def write(self, rows: Iterable[Mapping[str, Any]], coverage: Coverage) -> None:
        """Make the next version: these rows and no others. The same commit records the coverage."""
        write_deltalake(
            str(self.folder),
            pa.Table.from_pylist(list(rows), self.schema),
            mode="overwrite",
            schema_mode="overwrite",
            configuration=PROPERTIES,
            commit_properties=CommitProperties(
                custom_metadata={"userMetadata": coverage.to_json()}
            ),
        )
        if coverage.batch % VACUUM_BATCHES == 0:
            DeltaTable(str(self.folder)).vacuum(dry_run=False, full=True)

    def is_due(self) -> bool:
        """Whether it may have another version: a larger table has fewer."""
        if find_newest_version(self.folder) < 0:
            return True
        committed = datetime.fromtimestamp(read_committed_ms(self.folder) / 1000, UTC)
        age_seconds = (get_wall_now() - committed).total_seconds()
        return age_seconds * ROWS_PER_SECOND_MAX >= DeltaTable(str(self.folder)).count()
