"""When a table may have files that no version needs any longer."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from infra.folder import Folder
from infra.lake import read_committed_ms
from pipelines.lake.tables import RETENTION, Table

MILLISECOND = timedelta(milliseconds=1)


def test_files_are_kept_for_readers_of_earlier_versions(tmp_path: Path) -> None:
    DeltaTable.create(str(tmp_path), pa.schema([("day", pa.date32())]))
    table = Table(Folder(str(tmp_path)), "day DATE")
    created = datetime.fromtimestamp(read_committed_ms(table.folder) / 1000, UTC)
    assert not table.is_older_than_retention(created)
    assert not table.is_older_than_retention(created + RETENTION)
    assert table.is_older_than_retention(created + RETENTION + MILLISECOND)


def test_a_table_without_its_first_commit_is_old(tmp_path: Path) -> None:
    table = Table(Folder(str(tmp_path)), "day DATE")
    assert table.is_older_than_retention(datetime(2026, 3, 2, tzinfo=UTC))
