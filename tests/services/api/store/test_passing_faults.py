"""A fault that passes, such as a full disk or a lock, costs no database: only damage does."""

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from contracts import PURCHASE_ORDERS
from infra.wait import wait_until
from services.api.problem import Unavailable
from services.api.store import database, mirror
from services.api.store.database import connect
from services.api.store.mirror import Mirror
from services.api.store.mirrored import ORDERS
from tests.services.api.store.test_damage import scribble, scribble_inside
from tests.services.api.store.test_materializer import materializing
from tests.services.at_work import running
from tests.services.memory import MemoryLog
from tests.services.writing import Writing

BUSY_SECONDS = 0.05
FULL = "database or disk is full"

Fault = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process writes to the file, and takes its time."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        yield


@contextmanager
def taken(path: Path) -> Iterator[None]:
    """Another process has the file to itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("pragma locking_mode = exclusive")
        other.execute("begin exclusive")
        yield


@contextmanager
def full(_: Path) -> Iterator[None]:
    """No file may become larger."""

    def connect_full(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("pragma max_page_count = 1")  # as many as there are, if there are more
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "connect", connect_full)
        yield


@contextmanager
def spent_descriptors(_: Path) -> Iterator[None]:
    """The process may open no more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=BUSY_SECONDS))


@contextmanager
def keeping(path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing in the block makes the file anew."""
    inode = path.stat().st_ino
    caplog.clear()
    yield
    assert path.stat().st_ino == inode
    assert "rebuilding" not in caplog.text


def order(log: MemoryLog, *ids: str) -> None:
    for each in ids:
        log.put(PURCHASE_ORDERS, {**PURCHASE_ORDERS.examples[0], "purchase_order_id": each})


def mirroring(log: MemoryLog, path: Path) -> AbstractContextManager[Mirror]:
    return running(Mirror(ORDERS, path, log.open))


def list_orders(mirrored: Mirror) -> list[str]:
    with mirrored.open() as connection:
        name = f'"{PURCHASE_ORDERS.name}"'
        rows = connection.execute(f"select purchase_order_id from {name} order by 1")
        return [order_id for (order_id,) in rows]


def await_orders(mirrored: Mirror, *wanted: str) -> None:
    def is_there() -> bool:
        with suppress(Unavailable):
            return mirrored.trouble is None and list_orders(mirrored) == list(wanted)
        return False

    wait_until(is_there, f"the orders {wanted} are there")


@pytest.mark.parametrize("fault", [taken, spent_descriptors])
def test_a_view_that_cannot_be_opened_now_is_opened_later(
    log: MemoryLog, stocked: Writing, path: Path, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    with materializing(log, path) as view:
        view.at(0)
        assert view.materializer.snapshots is not None
        view.materializer.snapshots.close()
    with keeping(path, caplog), ExitStack() as begun:
        begun.enter_context(fault(path))
        with materializing(log, path) as view:
            wait_until(lambda: view.materializer.is_failing, "it says what is wrong")
            begun.close()
            assert view.at(0) == {"A": 4}


@pytest.mark.parametrize("fault", [locked, full])
def test_a_view_that_cannot_be_written_now_is_read_as_it_is_and_written_later(
    log: MemoryLog, stocked: Writing, path: Path, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    with materializing(log, path) as view:
        view.at(0)
    with keeping(path, caplog):
        skus = [f"SKU-{number:04}" for number in range(2_000)]
        with fault(path), materializing(log, path) as view:
            view.at(0)
            stocked.rows(1, skus, 1)
            stocked.mark()
            wait_until(lambda: view.materializer.is_failing, "it says what is wrong")
            assert view.units() == {"A": 4}
            if fault is full:
                assert FULL in view.trouble()
        with materializing(log, path) as view:
            assert view.at(1).keys() == {"A", *skus}
            wait_until(lambda: view.materializer.trouble is None, "the trouble is over")


@pytest.mark.parametrize("fault", [locked, taken, full, spent_descriptors])
def test_a_mirror_keeps_its_file_through_a_fault_that_passes(
    log: MemoryLog, path: Path, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    order(log, "first")
    with mirroring(log, path) as mirrored:
        await_orders(mirrored, "first")
    with keeping(path, caplog):
        more = [f"order-{number:04}" for number in range(2_000)]
        order(log, *more)
        with ExitStack() as begun:
            begun.enter_context(fault(path))
            with mirroring(log, path) as mirrored:
                wait_until(lambda: mirrored.is_failing, "it says what is wrong")
                begun.close()
                await_orders(mirrored, "first", *more)


def test_a_reader_of_a_mirror_that_cannot_open_its_file_now_costs_no_file(
    log: MemoryLog, path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "CHECK_SECONDS", 0.0)
    order(log, "1")
    with mirroring(log, path) as mirrored:
        await_orders(mirrored, "1")
        with keeping(path, caplog):
            cannot_open = pytest.raises(sqlite3.OperationalError, match="unable to open")
            with spent_descriptors(path), cannot_open:
                list_orders(mirrored)
            order(log, "2")
            await_orders(mirrored, "1", "2")
            order(log, "3")
            await_orders(mirrored, "1", "2", "3")


@pytest.mark.parametrize("harm", [scribble, scribble_inside])
def test_a_mirror_whose_file_is_damaged_is_read_anew(
    log: MemoryLog, path: Path, harm: Callable[[Path], None]
) -> None:
    order(log, "first")
    with mirroring(log, path) as mirrored:
        await_orders(mirrored, "first")
    harm(path)
    order(log, "second")
    with mirroring(log, path) as mirrored:
        await_orders(mirrored, "first", "second")
