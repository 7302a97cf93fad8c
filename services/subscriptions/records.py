"""The records of subscriptions, as values. Times are epoch milliseconds of the wall clock."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from contracts import NOTIFICATIONS, PROGRESS, SUBSCRIPTIONS, Contract, Row, encode, encode_key
from contracts.times import to_epoch_ms
from infra.kafka import Offsets, Outgoing

ACTIVE, PARKED = "active", "parked"
DIGITS = 32
SUBSCRIPTIONS_MAX = 16
"""Each has a thread and two readers of the log; the API takes no more."""

Places = Mapping[int, int]
"""Partition → the offset of the next record, in one topic."""


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """What is sent to whom; the fields are those of the contract."""

    subscription_id: str
    view: str
    filters: tuple[str, ...]
    """A row fulfils all of them to match."""
    address: str
    generation: int
    batch: int
    """The batch of the marker from which it starts."""
    offsets: Places
    """How far the view's changelog went at that marker."""
    from_beginning: bool
    """Whether rows that match at that marker are sent, too."""
    created_at: int
    created_by: str
    resumed_at: int | None = None
    skipped: int | None = None
    """The offset of a notification that is given up."""

    @classmethod
    def parse(cls, row: Row) -> Self:
        filters = tuple(one["text"] for one in row["filters"])
        return cls(**{**_parse(row, SUBSCRIPTIONS), "filters": filters})

    def to_row(self) -> Row:
        """The inverse of `parse`."""
        row = {**asdict(self), "offsets": _list_places(self.offsets)}
        return {**row, "filters": [{"text": one} for one in self.filters]}


@dataclass(kw_only=True)
class Progress:
    """How far one subscription has come; the fields are those of the contract."""

    subscription_id: str
    generation: int = 0
    offsets: dict[int, int] = field(default_factory=dict)
    """How far it has looked at the changelog of that generation."""
    next_offset: int = 0
    """The notification to deliver next, or one before it."""
    head: int | None = None
    """The offset of the notification that was tried last and not taken."""
    waiting_since: int | None = None
    waiting: int = 0
    delivered: int = 0
    state: str = ACTIVE
    attempts: int = 0
    error: str | None = None
    retry_at: int | None = None
    resumed_at: int | None = None

    @classmethod
    def parse(cls, row: Row) -> Self:
        return cls(**_parse(row, PROGRESS))

    def to_record(self) -> Outgoing:
        return create_record(PROGRESS, {**asdict(self), "offsets": _list_places(self.offsets)})


@dataclass(frozen=True, kw_only=True)
class Notification:
    """A row that began or ceased to match; the fields are those of the contract."""

    subscription_id: str
    row_key: str
    generation: int
    version: int
    matches: bool
    sent: bool = True
    partition: int | None = None
    offset: int | None = None
    row: str | None = None
    published_at: int | None = None
    began_at: int | None = None

    @classmethod
    def parse(cls, row: Row) -> Self:
        fields = _parse(row, NOTIFICATIONS)
        del fields["row_id"]
        return cls(**fields)

    def to_record(self) -> Outgoing:
        return create_record(NOTIFICATIONS, {**asdict(self), "row_id": digest(self.row_key)})


def digest(key: str) -> str:
    """The digest of a row's key: keys of records take no slash."""
    return hashlib.sha256(key.encode()).hexdigest()[:DIGITS]


def is_of(subscription_id: str, key: bytes | None) -> bool:
    """Whether the record with this key is a notification of the subscription."""
    return (key or b"").startswith(f"{subscription_id}/".encode())


def create_record(contract: Contract, row: Row) -> Outgoing:
    return Outgoing(contract.name, encode_key(contract, row), encode(contract, row))


def select_places(offsets: Offsets, topic: str) -> dict[int, int]:
    """The offsets of one topic, by partition."""
    return {partition: offset for (name, partition), offset in offsets.items() if name == topic}


def _parse(row: Row, contract: Contract) -> dict[str, Any]:
    """The fields of a decoded record: times as numbers, positions as a mapping."""
    values: dict[str, Any] = {
        one.name: to_epoch_ms(row[one.name])
        if one.type == "timestamp" and row[one.name] is not None
        else row[one.name]
        for one in contract.fields
    }
    if "offsets" in values:
        values["offsets"] = {at["partition"]: at["offset"] for at in values["offsets"]}
    return values


def _list_places(places: Places) -> list[Row]:
    return [{"partition": at, "offset": offset} for at, offset in sorted(places.items())]
