"""Records who did what, and who was refused, in a topic of its own."""

import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic

from contracts import ACTIONS, Row, encode, encode_key
from infra.security.tokens import NOBODY
from services.api.store.bucket import Bucket
from services.api.store.errors import NotRecorded
from services.api.store.publisher import Full, OutcomeUnknown, Record, Refused
from services.clock import get_wall_ms

REFUSALS_AT_ONCE_MAX = 60
"""So many refusals are recorded one after the other, then one a second. The others are counted."""
REFUSALS_PER_SECOND = 1.0
TARGET_CHARACTERS_MAX = 2_000  # by the contract
ID_BYTES = 4

Write = Callable[[Record], Awaitable[object]]
"""Returns once the log holds the record. Raises Full, Refused and OutcomeUnknown."""

log = logging.getLogger("api.audit")


@dataclass(frozen=True)
class Caller:
    """Who asks."""

    name: str
    """Of the token."""
    role: str | None
    """None: there is no valid token."""


UNKNOWN = Caller(NOBODY, None)


@dataclass(frozen=True)
class Attempt:
    """Something that somebody asks to be done."""

    action: str
    target: str
    caller: Caller
    why: str | None = None


@dataclass(frozen=True)
class Begun:
    """An action that is at work; `row` is what the log holds of it."""

    row: Row = field(repr=False)


class Audit:
    """Writes the records; only the event loop uses it.

    Of refusals it writes at most REFUSALS_AT_ONCE_MAX at once and then one a second. The next
    record says how many were left out.
    """

    def __init__(
        self,
        write: Write,
        find_world_ms: Callable[[], int | None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._write = write
        self._find_world_ms = find_world_ms
        self._refusals = Bucket(REFUSALS_AT_ONCE_MAX, REFUSALS_PER_SECOND, clock)
        self._left_out = 0

    async def begin(self, attempt: Attempt) -> Begun:
        """Record that it begins. Raises NotRecorded: then it must not begin."""
        row = self._create_row(attempt) | {"outcome": "begun"}
        try:
            await self._record(row)
        except (Full, Refused, OutcomeUnknown) as error:
            raise NotRecorded(str(error) or "too much is on its way") from error
        return Begun(row)

    async def end(self, begun: Begun, status: HTTPStatus) -> None:
        """Record what came of it. Where Kafka does not take the record, it stays begun."""
        await self._try_to_record({**begun.row, **_describe_end(status)})

    async def refuse(self, attempt: Attempt, status: HTTPStatus) -> None:
        """Record that it was not begun, or count it where there are too many."""
        if self._refusals.take():
            self._left_out += 1
            return
        if not await self._try_to_record(self._create_row(attempt) | _describe_end(status)):
            self._left_out += 1

    def _create_row(self, attempt: Attempt) -> dict[str, object]:
        now_ms = get_wall_ms()
        return {
            "action_id": f"{now_ms}-{secrets.token_hex(ID_BYTES)}",
            "action": attempt.action,
            "target": attempt.target[:TARGET_CHARACTERS_MAX],
            "who": attempt.caller.name,
            "role": attempt.caller.role,
            "why": attempt.why,
            "asked_at": now_ms,
            "world_at": self._find_world_ms(),
            "ended_at": None,
            "status": None,
        }

    async def _try_to_record(self, row: Row) -> bool:
        try:
            await self._record(row)
        except (Full, Refused, OutcomeUnknown) as error:
            log.warning("%s of %s is not recorded: %s", row["outcome"], row["action"], error)
            return False
        return True

    async def _record(self, row: Row) -> None:
        """Write the record, with how many were left out before it."""
        left_out, self._left_out = self._left_out, 0
        whole = {**row, "left_out": left_out}
        try:
            await self._write(
                Record(
                    ACTIONS.name, encode_key(ACTIONS, whole), encode(ACTIONS, whole), get_wall_ms()
                )
            )
        except BaseException:
            self._left_out += left_out
            raise


def _describe_end(status: HTTPStatus) -> dict[str, object]:
    return {"outcome": _name_outcome(status), "status": int(status), "ended_at": get_wall_ms()}


def _name_outcome(status: HTTPStatus) -> str:
    if status < HTTPStatus.BAD_REQUEST:
        return "done"
    return "refused" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "failed"
