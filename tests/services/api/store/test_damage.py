"""A database that is damaged, exchanged or cut off says so, or keeps its last commit."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from infra.settings import locate_root
from services.api.store.database import Database, Unusable
from services.api.store.snapshots import Snapshots
from tests.services.api.store.databases import STOCK, create, create_marker, read_units, reopen
from tests.services.writing import create_shelf


def scribble(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 400)


def scribble_inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def exchange(name: str, value: str, path: Path) -> None:
    """Let the file say that it was made for another schema or topic."""
    with sqlite3.connect(path) as connection:
        connection.execute("update identity set value = ? where name = ?", (value, name))


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (Path.unlink, "there is no database yet"),
        (scribble, "the database is damaged"),
        (scribble_inside, "the database is damaged"),
        (partial(exchange, "schema", "older"), "made for schema older"),
        (partial(exchange, "topic stock", "id0"), "made for topic stock id0, now it is id1"),
    ],
    ids=["lost", "damaged", "damaged inside", "another schema", "another topic"],
)
def test_a_file_that_cannot_be_gone_on_with_says_why_and_can_be_made_anew(
    path: Path, database: Database, harm: Callable[[Path], None], reason: str
) -> None:
    database.close()
    harm(path)
    with pytest.raises(Unusable, match=reason):
        reopen(path)
    assert create(path).find_marker() is None
    assert reopen(path).find_marker() is None


def test_a_file_that_was_removed_or_exchanged_is_noticed(path: Path, database: Database) -> None:
    assert database.is_in_place()
    path.rename(path.with_suffix(".away"))
    assert not database.is_in_place()
    scribble(path)
    assert not database.is_in_place()


def test_a_reader_that_finds_the_file_damaged_says_so(path: Path, database: Database) -> None:
    database.close()
    scribble(path)
    of_all, of_rows = Snapshots(path), Snapshots(path)
    with pytest.raises(sqlite3.DatabaseError), of_all.open():
        pass
    with pytest.raises(sqlite3.DatabaseError):
        of_rows.read_row(STOCK, STOCK.get_key(STOCK.to_stored(create_shelf(1, "A", units=5))))
    assert of_all.damaged
    assert of_rows.damaged


OPEN_TRANSACTION = """
import sys
from pathlib import Path
from services.api.store import database as module
from tests.services.api.store.databases import STOCK, reopen
from tests.services.writing import create_shelf

module.CACHE_KIB_MAX = 64  # so that rows reach the disk before they are committed
database = reopen(Path(sys.argv[1]))
rows = [STOCK.to_stored(create_shelf(1, f"SKU-{n}", 1)) for n in range(5_000)]
database.apply(STOCK.view, rows)
print("applied", flush=True)
sys.stdin.read()
"""


def test_kill_9_in_the_middle_of_a_commit_leaves_the_marker_before(
    path: Path, database: Database
) -> None:
    database.close()
    command = [sys.executable, "-c", OPEN_TRANSACTION, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=locate_root(), stdin=pipe, stdout=pipe, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "applied\n"
        writer.send_signal(signal.SIGKILL)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    reopened = reopen(path)
    assert reopened.find_marker() == create_marker(0)
    assert read_units(path) == [5]
