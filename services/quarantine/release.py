"""What can be done about a rejected record; its release, an event that wraps the original, once.

Running sums count a release. So there is no release beside an accepted copy, none while a copy may
still be accepted, and no second one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from contracts import RELEASES, Contract, Row, encode, encode_key
from contracts.consumer import create_reader
from contracts.times import MILLISECOND, render_span, to_instant
from contracts.validation import (
    FUTURE,
    LATE,
    RELEASABLE,
    VALIDATED,
    WRONG_KEY,
    WRONG_PARTITION,
    Rejection,
    find_first_fault,
    identify,
    read,
    unwrap,
    validate,
)
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.kafka import (
    Record,
    create_admin,
    create_producer,
    find_offsets_at,
    read_between,
    read_end_offsets,
    read_newest_ms,
    send,
    to_record,
)
from infra.settings import Settings
from ops.control.reading import Reader
from ops.control.world_clock import AnnouncedClock, read_clock

BECAUSE_MAX = 500
RELEASED_REASONS = (LATE, FUTURE, WRONG_KEY, WRONG_PARTITION)

READER = Reader(create_reader("quarantine"))


class Refused(UserError):
    """The record may not be released."""


@dataclass(frozen=True)
class Released:
    """The place of the release, and the event that it wraps."""

    topic: str
    partition: int
    offset: int
    event: Row


@dataclass(frozen=True)
class Case:
    """A rejected record whose reason allows a release."""

    record: Record
    contract: Contract
    event: Row
    """The event, with times in milliseconds since 1970."""

    @property
    def happened_ms(self) -> int:
        return int(self.event[self.contract.event_time or ""])

    def compute_decided_ms(self) -> int:
        """The time from which on no copy is accepted. The skew is room for a slow sender."""
        spans = (self.contract.horizon or timedelta()) + (self.contract.skew or timedelta())
        return self.happened_ms + spans // MILLISECOND


@dataclass(frozen=True)
class Remedy:
    """Whether the record may be released, and what to do, in words."""

    event: Row | None
    """The event to release, its times in milliseconds since 1970; None: no release is allowed."""
    text: str


def release(settings: Settings, place: tuple[str, int, int], because: str) -> Released:
    """Publish the release. Raises Refused, and Kafka's errors.

    The caller ensures that no one else on this data folder releases at the same time.
    """
    if not 0 < len(because.strip()) <= BECAUSE_MAX:
        raise Refused(f"Expected why it is released, in 1 to {BECAUSE_MAX} characters: --because")
    case = create_case(read_record(settings, *place))
    refuse_undecided(settings, case)
    refuse_released(settings, case)
    refuse_applied(settings, case)
    now_ms = read_world_clock(settings).world_at(get_wall_ms())
    value = create_event(case, because.strip(), now_ms)
    record_key, written = encode_key(RELEASES, value), encode(RELEASES, value)
    own = validate(RELEASES, record_key, written, now_ms)
    if isinstance(own, Rejection):
        raise Refused(f"The release would be rejected itself: {own.reason}, {own.found}")
    client = create_producer(
        settings, message_max_bytes=RELEASES.settings.config["max.message.bytes"]
    )
    partition, offset = send(client, RELEASES.name, record_key, written, timestamp_ms=now_ms)
    return Released(RELEASES.name, partition, offset, case.event)


def create_case(record: Record) -> Case:
    """The case of the record, before any other record is read. Raises Refused."""
    contract = VALIDATED.get(record.topic)
    if contract is None:
        raise Refused(f"Records of {record.topic} are not quarantined.")
    verdict = validate(contract, record.key, record.value, record.published_ms, record.partition)
    if not isinstance(verdict, Rejection):
        raise Refused("The record was not rejected: it has been counted. There is nothing to do.")
    allowed = find_remedy(contract, verdict.reason, record.value)
    if allowed.event is None:
        raise Refused(f"It is in quarantine as {verdict.reason}, and not released. {allowed.text}")
    return Case(record, contract, allowed.event)


def find_remedy(contract: Contract, reason: str, value: bytes | None) -> Remedy:
    """The remedy, by the record alone. Its release checks later whether the event has counted."""
    if contract.name not in RELEASABLE:
        return Remedy(
            None,
            f"Announce it anew: what {contract.name} says holds from a time on, and a release "
            "would come behind that time.",
        )
    if reason not in RELEASED_REASONS:
        return Remedy(None, "Publish a corrected event: this one does not keep its contract.")
    event = read(contract, value)
    if isinstance(event, Rejection):
        return Remedy(None, "Publish a corrected event: this one does not decode.")
    fault = find_first_fault(contract, encode_key(contract, event), event)
    if fault is not None:
        return Remedy(None, f"Publish a corrected event: this one breaks a rule: {fault.reason}.")
    return Remedy(event, "It may be released, once its event can no longer come in time.")


def refuse_undecided(settings: Settings, case: Case) -> None:
    """Raise Refused while a copy of the event could still be accepted."""
    topics = [name for name in VALIDATED if name != RELEASES.name]
    # After a kill of the simulator the clock runs on and the log does not; the earlier time counts.
    log_ms = max(read_newest_ms(create_admin(settings), topics).values(), default=0)
    now_ms = min(read_world_clock(settings).world_at(get_wall_ms()), log_ms)
    if now_ms <= case.compute_decided_ms():
        raise Refused(
            f"A copy of {case.event['event_id']} may still come in time. In the world it is "
            f"{render_time(now_ms)}; try again after "
            f"{render_time(case.compute_decided_ms())}: the event happened "
            f"{render_time(case.happened_ms)}, and {case.contract.name} takes it for "
            f"{render_span(case.contract.horizon or timedelta())} and the skew."
        )


def refuse_released(settings: Settings, case: Case) -> None:
    """Raise Refused if the event was released before."""
    identity = identify(case.contract, case.event)
    for record, event in find_accepted(settings, RELEASES, identity[0], 0):
        original = unwrap(event)
        if (
            event["topic"] == case.contract.name
            and not isinstance(original, Rejection)
            and identify(case.contract, original) == identity
        ):
            raise Refused(
                f"{identity[0]} was released before, {render_time(event['event_time'])}: it is "
                f"{record.topic}/{record.partition}/{record.offset}, because: {event['because']}"
            )


def refuse_applied(settings: Settings, case: Case) -> None:
    """Raise Refused if a copy of the event was accepted, in any partition."""
    contract, identity = case.contract, identify(case.contract, case.event)
    # No copy is accepted that was published earlier.
    since_ms = case.happened_ms - (contract.skew or timedelta()) // MILLISECOND
    for record, event in find_accepted(settings, contract, identity[0], since_ms):
        if identify(contract, event) == identity:
            raise Refused(
                f"{identity[0]} has been counted: a copy came in time, at "
                f"{record.topic}/{record.partition}/{record.offset}. There is nothing to do."
            )


def read_record(settings: Settings, topic: str, partition: int, offset: int) -> Record:
    """The record at the place. Raises UserError and TimeoutError."""
    end = read_end_offsets(create_admin(settings), [topic]).get((topic, partition))
    why = "the log has dropped it"
    if end is None:
        why = "the topic has no such partition"
    elif not 0 <= offset < end:
        why = f"the partition ends at {end}"
    else:
        place = (topic, partition)
        for message in read_between(settings, {place: offset}, {place: offset + 1}):
            if message.offset() == offset:
                return to_record(message)
    raise UserError(
        f"Expected a record at {topic}/{partition}/{offset}, but {why}. "
        "See what was rejected: GET /v1/quarantine"
    )


def find_accepted(
    settings: Settings, contract: Contract, holding: str, since_ms: int
) -> Iterator[tuple[Record, Row]]:
    """The accepted records of the topic that hold the text, published since then.

    Each partition begins with its first record with this timestamp or a later one. Raises
    UnknownTopic and TimeoutError.
    """
    client = create_admin(settings)
    starts = find_offsets_at(client, [contract.name], max(since_ms, 0))
    ends = read_end_offsets(client, [contract.name])
    for message in read_between(settings, starts, ends):
        record = to_record(message)
        if holding.encode() not in (record.value or b""):
            continue  # decoding only possible copies is ten times as fast
        verdict = validate(
            contract, record.key, record.value, record.published_ms, record.partition
        )
        if not isinstance(verdict, Rejection):
            yield record, verdict


def create_event(case: Case, because: str, now_ms: int) -> Row:
    """The event that releases the record."""
    record = case.record
    return {
        "event_id": f"released/{record.topic}/{record.partition}/{record.offset}",
        "event_time": now_ms,
        "record_key": encode_key(case.contract, case.event).decode(),
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "original_event_id": case.event["event_id"],
        "original_event_time": case.happened_ms,
        "value": record.value,
        "because": because,
    }


def read_world_clock(settings: Settings) -> AnnouncedClock:
    """The clock of the world. Raises Refused if none was announced."""
    announced = read_clock(settings, READER)
    if announced is not None:
        return announced
    raise Refused("No world clock has been announced. Start the simulator: make up")


def render_time(milliseconds: int) -> str:
    time = to_instant(milliseconds)
    return "at no time of a calendar" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"
