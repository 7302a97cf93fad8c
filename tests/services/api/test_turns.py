"""What writes the views waits while answers are computed, and not for ever."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from services.api import turns
from services.api.turns import ROWS_PER_TURN, give_way, run_server

ROWS = list(range(3 * ROWS_PER_TURN + 1))
SECONDS_MAX = 30.0


def test_a_row_waits_until_the_answer_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS_MAX", SECONDS_MAX)
    order: list[str] = []
    begun = Event()

    def write() -> None:
        begun.set()
        for _ in give_way(ROWS):
            order.append("row")

    async def serve() -> None:
        writers.submit(write)
        begun.wait(SECONDS_MAX)
        order.append("answer")

    with ThreadPoolExecutor() as writers:
        run_server(serve())
    assert order == ["answer", *["row"] * len(ROWS)]


def test_rows_are_written_however_long_an_answer_takes() -> None:
    written = Event()
    rows: list[int] = []

    def write() -> None:
        rows.extend(give_way(ROWS))
        written.set()

    async def serve() -> None:
        writers.submit(write)
        assert written.wait(SECONDS_MAX)

    with ThreadPoolExecutor() as writers:
        run_server(serve())
    assert rows == ROWS
