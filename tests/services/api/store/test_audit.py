"""A flood of refusals does not fill the log; what is left out is counted."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import pytest

from contracts import decode
from services.api.store.audit import (
    REFUSALS_AT_ONCE_MAX,
    TARGET_CHARACTERS_MAX,
    UNKNOWN,
    Attempt,
    Audit,
    Caller,
)
from services.api.store.publisher import OutcomeUnknown, Record

ATTEMPT = Attempt("roll-back-generation", "/v1/pipelines/fraud/rollback", UNKNOWN)


class Written:
    """What an audit writes, by a clock that a test sets."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.is_down = False
        self.audit = Audit(self._write, lambda: None, lambda: self.seconds)

    async def _write(self, record: Record) -> None:
        if self.is_down:
            raise OutcomeUnknown("nothing was heard of it")
        self.rows.append(decode(record.value).value)

    def refuse(self, times: int) -> None:
        asyncio.run(self._refuse(times))

    async def _refuse(self, times: int) -> None:
        for _ in range(times):
            await self.audit.refuse(ATTEMPT, HTTPStatus.UNAUTHORIZED)


def count(rows: Iterable[dict[str, Any]]) -> int:
    """How many refusals the records tell of."""
    return sum(1 + row["left_out"] for row in rows)


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.mark.parametrize("more", [-1, 0, 1, 9 * REFUSALS_AT_ONCE_MAX])
def test_so_many_refusals_are_recorded_and_the_others_are_counted(
    written: Written, more: int
) -> None:
    written.refuse(REFUSALS_AT_ONCE_MAX + more)
    assert len(written.rows) == REFUSALS_AT_ONCE_MAX + min(0, more)
    written.seconds = 1.0
    written.refuse(1)
    assert len(written.rows) == REFUSALS_AT_ONCE_MAX + 1 + min(0, more)
    assert written.rows[-1]["left_out"] == max(0, more)
    assert count(written.rows) == REFUSALS_AT_ONCE_MAX + more + 1


def test_a_refusal_that_kafka_does_not_take_is_counted_with_the_next(written: Written) -> None:
    written.is_down = True
    written.refuse(3)
    written.is_down = False
    written.refuse(2)
    assert [row["left_out"] for row in written.rows] == [3, 0]


def test_an_action_says_how_many_refusals_were_left_out_before_it(written: Written) -> None:
    written.refuse(REFUSALS_AT_ONCE_MAX + 7)
    action = Attempt("roll-back-generation", "fraud", Caller("operator", "operator"))
    begun = asyncio.run(written.audit.begin(action))
    asyncio.run(written.audit.end(begun, HTTPStatus.OK))
    assert [row["left_out"] for row in written.rows[-2:]] == [7, 0]


@pytest.mark.parametrize("more", [-1, 0, 1, 2_000])
def test_of_a_long_path_the_beginning_is_recorded(more: int) -> None:
    written, path = Written(), "/" + "x" * (TARGET_CHARACTERS_MAX - 1 + more)
    refused = Attempt("none", path, UNKNOWN)
    asyncio.run(written.audit.refuse(refused, HTTPStatus.UNAUTHORIZED))
    assert written.rows[0]["target"] == path[:TARGET_CHARACTERS_MAX]
