"""Records actions and refusals, with their callers, in a topic of its own."""

import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic

from contracts import ACTIONS, Row, encode, encode_key
from infra.clock import get_wall_ms
from infra.kafka import Outgoing
from infra.security.tokens import NOBODY
from services.api.problem import Unavailable
from services.api.store.publisher import NotPublished

REFUSALS_AT_ONCE_MAX = 60
"""The refusals recorded at once; after that one a second. The audit counts the others."""
REFUSALS_PER_SECOND = 1.0
TARGET_CHARACTERS_MAX = 2_000  # by the contract
ID_BYTES = 4

log = logging.getLogger("api.audit")


@dataclass(frozen=True)
class Caller:
    """The sender of a request."""

    name: str
    """The name of the token."""
    role: str | None
    """None without a valid token."""


UNKNOWN = Caller(NOBODY, None)


@dataclass(frozen=True)
class Attempt:
    """An action that a caller asks for."""

    action: str
    target: str
    caller: Caller
    why: str | None = None


class Bucket:
    """A token bucket: it starts full, holds at most `burst` tokens, and gains `per_second`."""

    def __init__(
        self, burst: float, per_second: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = burst
        self._filled_at = clock()

    def take(self) -> float:
        """Take a token and return 0.0; without one, return the seconds until there is one."""
        now = self._clock()
        filled = (now - self._filled_at) * self._per_second
        self._left, self._filled_at = min(self._burst, self._left + filled), now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0


class Audit:
    """Writes the records; only the event loop uses it.

    `write` returns once the log holds the record, or raises NotPublished.
    It writes at most REFUSALS_AT_ONCE_MAX refusals at once and then one a second. The next record
    has the number of omitted ones.
    """

    def __init__(
        self,
        write: Callable[[Outgoing], Awaitable[object]],
        find_world_ms: Callable[[], int | None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._write = write
        self._find_world_ms = find_world_ms
        self._refusals = Bucket(REFUSALS_AT_ONCE_MAX, REFUSALS_PER_SECOND, clock)
        self._left_out = 0

    async def begin(self, attempt: Attempt) -> Row:
        """Record the begin of an action and return its record.

        Raises Unavailable: then the action must not begin.
        """
        row = self._create_row(attempt) | {"outcome": "begun"}
        try:
            await self._record(row)
        except NotPublished as error:
            raise Unavailable(
                "Not recorded",
                f"Expected to record the action before it begins, but: {error}. Nothing was done; "
                "try again.",
            ) from error
        return row

    async def end(self, begun: Row, status: HTTPStatus) -> None:
        """Record the outcome. If Kafka does not take the record, the action remains begun."""
        await self._try_to_record({**begun, **_describe_end(status)})

    async def refuse(self, attempt: Attempt, status: HTTPStatus) -> None:
        """Record a refused action, or count it if there are too many."""
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
        except NotPublished as error:
            log.warning("%s of %s is not recorded: %s", row["outcome"], row["action"], error)
            return False
        return True

    async def _record(self, row: Row) -> None:
        """Write the record, with the number of refusals omitted before it."""
        left_out, self._left_out = self._left_out, 0
        whole = {**row, "left_out": left_out}
        try:
            key, value = encode_key(ACTIONS, whole), encode(ACTIONS, whole)
            await self._write(Outgoing(ACTIONS.name, key, value, get_wall_ms()))
        except BaseException:
            self._left_out += left_out
            raise


def _describe_end(status: HTTPStatus) -> dict[str, object]:
    outcome = "done"
    if status >= HTTPStatus.BAD_REQUEST:
        outcome = "refused" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "failed"
    return {"outcome": outcome, "status": int(status), "ended_at": get_wall_ms()}
