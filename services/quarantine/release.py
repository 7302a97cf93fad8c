"""Releasing a rejected record: a new event that wraps the original, once.

Once, because running sums add it up: never beside a copy that was accepted in time, never while
one may still come, never twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from contracts import CLOCKS, HEARTBEATS, RELEASES, Contract, Row, codec, encode, key
from contracts.consumer import reader
from contracts.judging import JUDGED, Rejection, instant, judge, span
from infra.errors import Trouble
from infra.kafka import admin, newest_ms, producer, read_to_end, send
from infra.settings import Settings
from services.api.world import WorldClock
from services.clock import wall_ms
from services.quarantine.reading import record_at, records_since
from services.quarantine.records import Record
from services.quarantine.remedy import remedy

BECAUSE_MAX = 500
CLOCKS_READ_MAX = 2_000
MILLISECOND = timedelta(milliseconds=1)

decode = reader("quarantine")

Tell = Callable[[str, int, int], None]
"""Is told what is read, how much of it, of how much."""


class Refused(Trouble):
    """The record is not released."""


@dataclass(frozen=True)
class Released:
    """Where the release lies, and what it wraps."""

    topic: str
    partition: int
    offset: int
    event: Row


@dataclass(frozen=True)
class Case:
    """A rejected record that its kind allows to release."""

    record: Record
    contract: Contract
    event: Row
    """Its times in milliseconds of 1970."""

    @property
    def happened_ms(self) -> int:
        return int(self.event[self.contract.event_time or ""])

    def accepted_from_ms(self) -> int:
        """What was published before cannot have been accepted."""
        return self.happened_ms - (self.contract.skew or timedelta()) // MILLISECOND

    def decided_ms(self) -> int:
        """From then on no copy can come in time. The skew is room for a sender that is slow."""
        spans = (self.contract.horizon or timedelta()) + (self.contract.skew or timedelta())
        return self.happened_ms + spans // MILLISECOND


def release(settings: Settings, place: tuple[str, int, int], because: str, tell: Tell) -> Released:
    """Publish the release. Raises Refused, and what Kafka raises.

    Who calls sees to it that nobody else on this data folder does at the same time.
    """
    if not 0 < len(because.strip()) <= BECAUSE_MAX:
        raise Refused(f"Expected why it is released, in 1 to {BECAUSE_MAX} characters: --because")
    case = releasable(record_at(settings, *place))
    refuse_undecided(settings, case)
    refuse_released(settings, case, tell)
    refuse_applied(settings, case, tell)
    now_ms = world_clock(settings).at(wall_ms())
    value = event(case, because.strip(), now_ms)
    record_key, written = key(RELEASES, value), encode(RELEASES, value)
    own = judge(RELEASES, record_key, written, now_ms)
    if isinstance(own, Rejection):
        raise Refused(f"The release would be rejected itself: {own.reason}, {own.found}")
    client = producer(settings, message_max_bytes=RELEASES.settings.config["max.message.bytes"])
    partition, offset = send(client, RELEASES.name, record_key, written, timestamp_ms=now_ms)
    return Released(RELEASES.name, partition, offset, case.event)


def releasable(record: Record) -> Case:
    """The case, by the record alone. Raises Refused."""
    contract = JUDGED.get(record.topic)
    if contract is None:
        raise Refused(f"{record.topic} is no topic whose records are quarantined.")
    found = judge(contract, record.key, record.value, record.published_ms)
    if not isinstance(found, Rejection):
        raise Refused("The record was not rejected: it has been counted. Nothing is to be done.")
    allowed = remedy(contract, found.reason, record.value)
    if allowed.event is None:
        raise Refused(f"It is in quarantine as {found.reason}, and not released. {allowed.text}")
    return Case(record, contract, allowed.event)


def refuse_undecided(settings: Settings, case: Case) -> None:
    """Raises Refused while a copy of the event could still be accepted."""
    topics = [name for name in JUDGED if name != RELEASES.name]
    # The clock goes on where a simulator was killed, and the log does not: the earlier counts.
    log_ms = max(newest_ms(admin(settings), topics).values(), default=0)
    now_ms = min(world_clock(settings).at(wall_ms()), log_ms)
    if now_ms <= case.decided_ms():
        raise Refused(
            f"A copy of {case.event['event_id']} may still come in time. In the world it is "
            f"{shown(now_ms)}; try again after {shown(case.decided_ms())}: the event happened "
            f"{shown(case.happened_ms)}, and {case.contract.name} takes it for "
            f"{span(case.contract.horizon or timedelta())} and the skew."
        )


def refuse_released(settings: Settings, case: Case, tell: Tell) -> None:
    """Raises Refused when the event was released before."""
    identity = case.event["event_id"]
    for record in records_since(settings, RELEASES.name, 0, partial(tell, RELEASES.name)):
        if identity.encode() not in (record.value or b""):
            continue
        found = judge(RELEASES, record.key, record.value, record.published_ms)
        if isinstance(found, Rejection):
            continue  # it does not count
        if (found["topic"], found["original_event_id"]) == (case.contract.name, identity):
            raise Refused(
                f"{identity} was released before, {shown(found['event_time'])}: it is "
                f"{record.topic}/{record.partition}/{record.offset}, because: {found['because']}"
            )


def refuse_applied(settings: Settings, case: Case, tell: Tell) -> None:
    """Raises Refused when the event was accepted, be it from another partition."""
    contract, identity = case.contract, case.event["event_id"]
    since_ms, show = case.accepted_from_ms(), partial(tell, contract.name)
    for record in records_since(settings, contract.name, since_ms, show):
        if identity.encode() not in (record.value or b""):
            continue  # to decode only what may be a copy makes it ten times as fast
        found = judge(contract, record.key, record.value, record.published_ms)
        if not isinstance(found, Rejection) and found["event_id"] == identity:
            raise Refused(
                f"{identity} has been counted: a copy came in time, at "
                f"{record.topic}/{record.partition}/{record.offset}. Nothing is to be done."
            )


def event(case: Case, because: str, now_ms: int) -> dict[str, Any]:
    record = case.record
    return {
        "event_id": f"released/{record.topic}/{record.partition}/{record.offset}",
        "event_time": now_ms,
        "record_key": codec.key(case.contract, case.event).decode(),
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "original_event_id": case.event["event_id"],
        "original_event_time": case.happened_ms,
        "value": record.value,
        "because": because,
    }


def world_clock(settings: Settings) -> WorldClock:
    """Raises Refused where there is none."""
    found = read_to_end(settings, CLOCKS.name, records_max=CLOCKS_READ_MAX)
    beats = newest_ms(admin(settings), [HEARTBEATS.name]).values()
    for value in found.values():
        return replace(WorldClock.of(decode(value).value), beat_ms=max(beats, default=None))
    raise Refused("Nobody has said what time it is in the world. Start it: make up")


def shown(milliseconds: int) -> str:
    at = instant(milliseconds)
    return "at no time of a calendar" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"
