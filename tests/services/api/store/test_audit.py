"""A flood of refusals does not fill the log; what is left out is counted."""

import asyncio
from http import HTTPStatus
from typing import Any

import pytest

from contracts import decode
from infra.kafka import Outgoing
from services.api.store.audit import REFUSALS_AT_ONCE_MAX as AT_ONCE_MAX
from services.api.store.audit import TARGET_CHARACTERS_MAX, UNKNOWN, Attempt, Audit, Caller
from services.api.store.publisher import OutcomeUnknown

ATTEMPT = Attempt("roll-back-generation", "/v1/pipelines/fraud/rollback", UNKNOWN)


class Written:
    """What an audit writes, by a clock that a test sets."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.is_down = False
        self.audit = Audit(self._write, lambda: None, lambda: self.seconds)

    async def _write(self, record: Outgoing) -> None:
        if self.is_down:
            raise OutcomeUnknown("nothing was heard of it")
        self.rows.append(decode(record.value).value)

    def refuse(self, times: int, attempt: Attempt = ATTEMPT) -> None:
        for _ in range(times):
            asyncio.run(self.audit.refuse(attempt, HTTPStatus.UNAUTHORIZED))

    def list_left_out(self) -> list[int]:
        return [row["left_out"] for row in self.rows]


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.mark.parametrize("more", [-1, 0, 1, 9 * AT_ONCE_MAX])
def test_so_many_refusals_are_recorded_and_the_others_are_counted(
    written: Written, more: int
) -> None:
    written.refuse(AT_ONCE_MAX + more)
    recorded = AT_ONCE_MAX + min(0, more)
    assert written.list_left_out() == [0] * recorded
    written.seconds = 1.0
    written.refuse(1)
    assert written.list_left_out() == [*[0] * recorded, max(0, more)]


def test_a_refusal_that_kafka_does_not_take_is_counted_with_the_next(written: Written) -> None:
    written.is_down = True
    written.refuse(3)
    written.is_down = False
    written.refuse(2)
    assert written.list_left_out() == [3, 0]


def test_an_action_says_how_many_refusals_were_left_out_before_it(written: Written) -> None:
    written.refuse(AT_ONCE_MAX + 7)
    action = Attempt("roll-back-generation", "fraud", Caller("operator", "operator"))
    begun = asyncio.run(written.audit.begin(action))
    asyncio.run(written.audit.end(begun, HTTPStatus.OK))
    assert written.list_left_out()[-2:] == [7, 0]


@pytest.mark.parametrize("more", [-1, 0, 1, 2_000])
def test_of_a_long_path_the_beginning_is_recorded(written: Written, more: int) -> None:
    path = "/" + "x" * (TARGET_CHARACTERS_MAX - 1 + more)
    written.refuse(1, Attempt("none", path, UNKNOWN))
    assert written.rows[0]["target"] == path[:TARGET_CHARACTERS_MAX]
