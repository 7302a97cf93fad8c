"""From changelog to database, over a log in memory: order and offsets.

What only a broker can show (topic ids, offsets that are gone) is in test_kafka.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import OperationalError
from typing import Any

import pytest

from contracts import BOOKS, MARKERS, STOCK_LEVELS, STORE_SALES, encode_key
from contracts.times import to_epoch_ms
from infra.wait import wait_until
from ops.generations.record import Generation, State
from services.api.store.changelog import READER
from services.api.store.materializer import Materializer
from services.api.store.tables import Table
from tests.bad_records import list_bad
from tests.services.at_work import running
from tests.services.memory import MemoryLog
from tests.services.writing import MORNING, Writing

STOCK = Table(STOCK_LEVELS)
UNITS = f"select sku, units_on_hand from {STOCK.name} order by sku"


class View:
    """What a reader of the database sees, while a materializer is at work."""

    def __init__(self, materializer: Materializer) -> None:
        self.materializer = materializer

    def at(self, batch: int) -> dict[str, int]:
        """Units by sku, once this batch is committed."""
        wait_until(lambda: self.batch() >= batch, f"batch {batch} is committed")
        return self.units()

    def batch(self) -> int:
        if self.materializer.snapshots is None:
            return -1
        with suppress(OperationalError), self.materializer.snapshots.open() as snapshot:
            return snapshot.marker.batch
        return -1  # the file is gone, and this reader was quicker than the materializer

    def units(self) -> dict[str, int]:
        return dict(self.select(UNITS))

    def select(self, query: str) -> list[Any]:
        assert self.materializer.snapshots is not None
        with self.materializer.snapshots.open() as snapshot:
            return snapshot.select(query).fetchall()

    def trouble(self) -> str:
        wait_until(lambda: self.materializer.trouble is not None, "there is trouble")
        return str(self.materializer.trouble)


def ignore(_: object) -> None: ...


@contextmanager
def materializing(log: MemoryLog, path: Path, name: str = STOCK_LEVELS.name) -> Iterator[View]:
    """A materializer of a generation with the view of this name."""
    topics = {name: f"{name}.g1", BOOKS.name: BOOKS.name}
    generation = Generation("inventory", 1, State.PROMOTED, "9f31c0", MORNING, topics)
    work = Materializer(generation, path, log.open, ignore, lambda: None, ignore)
    with running(work) as materializer:
        yield View(materializer)


def test_rows_beyond_the_marker_stay_unseen_and_a_marker_waits_for_its_rows(
    log: MemoryLog, stocked: Writing, path: Path
) -> None:
    stocked.row(1, "A", 3, version=2)
    stocked.row(1, "B", 7)
    with materializing(log, path) as view:
        assert view.at(0) == {"A": 4}
        stocked.row(1, "C", 1)
        assert view.units() == {"A": 4}
        assert view.at(stocked.mark()) == {"A": 3, "B": 7, "C": 1}
        ends = log.ends([stocked.topic, BOOKS.name])
        stocked.mark_again(2, ends | {(stocked.topic, 1): ends[stocked.topic, 1] + 2})
        stocked.row(1, "A", 2, version=3)
        assert view.units() == {"A": 3, "B": 7, "C": 1}
        stocked.row(1, "D", 7)
        assert view.at(2) == {"A": 2, "B": 7, "C": 1, "D": 7}


def test_a_view_whose_contract_is_gone_is_named_with_the_way_out(
    log: MemoryLog, stocked: Writing, path: Path
) -> None:
    with materializing(log, path, "public.inventory.stock-level.v0") as view:
        trouble = view.trouble()
        assert "public.inventory.stock-level.v0 has no contract" in trouble
        assert "retail replay promote inventory" in trouble
        assert view.materializer.explain_absence() == trouble


def test_markers_and_books_of_others_do_not_count(
    log: MemoryLog, inventory: Writing, path: Path
) -> None:
    other = Writing(log, generation=2)
    other.book((inventory.topic, 0), 1, 0)
    for _ in range(3):
        other.mark()
    inventory.row(1, "A", 4)
    inventory.mark()
    with materializing(log, path) as view:
        assert view.at(0) == {"A": 4}
        assert view.batch() == 0


def test_a_restart_goes_on_where_it_stopped(
    log: MemoryLog, stocked: Writing, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with materializing(log, path) as view:
        view.at(0)
    caplog.clear()
    log.records[stocked.topic, 1][0] = (b"", b"to be read no more", 0)
    stocked.row(1, "B", 7)
    stocked.mark()
    with materializing(log, path) as view:
        assert view.at(1) == {"A": 4, "B": 7}
    assert "rebuilding" not in caplog.text


def test_a_lost_database_is_made_anew_while_it_runs(
    log: MemoryLog, stocked: Writing, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with materializing(log, path) as view:
        view.at(0)
        path.unlink()
        stocked.row(1, "B", 7)
        assert view.at(stocked.mark()) == {"A": 4, "B": 7}
    assert "rebuilding from offset zero: there is no database yet" in caplog.text


def test_a_database_beyond_the_end_of_the_log_is_made_anew(
    log: MemoryLog, inventory: Writing, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for sku in "AB":
        inventory.row(1, sku, 4)
        inventory.mark()
    with materializing(log, path) as view:
        view.at(1)
    del log.records[inventory.topic, 1][1:]
    with materializing(log, path) as view:
        wait_until(lambda: "goes on at offset 2" in caplog.text, "it says why")
        inventory.row(1, "C", 5)
        assert view.at(inventory.mark()) == {"A": 4, "C": 5}


@pytest.mark.parametrize("what", list_bad(STOCK_LEVELS))
def test_a_row_that_breaks_its_contract_is_set_aside(
    log: MemoryLog, stocked: Writing, path: Path, what: str
) -> None:
    topic = stocked.topic
    before = READER.count_set_aside().get((topic, "undecodable"), 0)
    with materializing(log, path) as view:
        view.at(0)
        key, value = list_bad(STOCK_LEVELS)[what]
        log.publish((topic, 1), key or b"", value)
        log.publish((topic, 1), b"S001/A", None)
        stocked.row(1, "B", 7)
        assert view.at(stocked.mark()) == {"A": 4, "B": 7}
    assert READER.count_set_aside()[topic, "undecodable"] == before + 2


@pytest.mark.parametrize("what", sorted(list_bad(MARKERS).keys() - {"a wrong key", "no key"}))
def test_a_marker_that_breaks_its_contract_or_has_other_outputs_is_set_aside(
    log: MemoryLog, stocked: Writing, path: Path, what: str
) -> None:
    with materializing(log, path) as view:
        view.at(0)
        _, value = list_bad(MARKERS)[what]
        log.publish((MARKERS.name, 0), f"inventory/{stocked.generation}".encode(), value)
        stocked.mark_again(7, {**log.ends([stocked.topic]), ("no such topic", 3): 9})
        stocked.row(1, "B", 7)
        assert view.at(stocked.mark()) == {"A": 4, "B": 7}


@pytest.mark.parametrize("compacted", [False, True])
def test_the_deletion_of_a_row_that_is_over_changes_no_answer(
    log: MemoryLog, path: Path, compacted: bool
) -> None:
    """Whether a reader saw the row, its deletion, both or neither."""
    assert STORE_SALES.retention is not None
    sales = Writing(log, views=(STORE_SALES,))
    newest = STORE_SALES.examples[0]["window_start"]
    over = newest - 2 * STORE_SALES.retention
    for began in (over, newest):
        sales.put(STORE_SALES, window_start=began)
    key = encode_key(STORE_SALES, {**STORE_SALES.examples[0], "window_start": over})
    [partition] = [
        place for place, rows in log.records.items() if any(row[0] == key for row in rows)
    ]
    if compacted:
        log.records[partition] = [
            (b"", None, 0) if row[0] == key else row for row in log.records[partition]
        ]
    sales.mark()
    with materializing(log, path, STORE_SALES.name) as view:
        wait_until(lambda: view.batch() >= 0, "batch 0 is committed")
        log.publish(partition, key, None)
        last = sales.mark()
        wait_until(lambda: view.batch() >= last, "the deletion is committed")
        kept = view.select(f"select window_start from {Table(STORE_SALES).name}")
        assert kept == [(to_epoch_ms(newest),)]


def test_a_topic_that_is_not_there_yet_is_waited_for(log: MemoryLog, path: Path) -> None:
    with materializing(log, path) as view:
        assert f"{STOCK_LEVELS.name}.g1" in view.trouble()
        late = Writing(log)
        late.row(1, "A", 4)
        assert view.at(late.mark()) == {"A": 4}
        wait_until(lambda: view.materializer.trouble is None, "the trouble is over")


def test_more_rows_than_wait_in_memory_come_through_in_one_commit(
    log: MemoryLog, inventory: Writing, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.api.store.assembly.ROWS_WAITING_MAX", 50)
    inventory.row(1, "A", 0)
    inventory.mark()
    with materializing(log, path) as view:
        view.at(0)
        for number in range(3_000):
            inventory.row(1, f"SKU-{number:05}", 1)
        assert view.units() == {"A": 0}
        assert len(view.at(inventory.mark())) == 3_001
