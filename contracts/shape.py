"""A contract, once it has been read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

Row = Mapping[str, Any]
"""A value of a contract: field name → value; an array is a list of rows."""

Limit = int | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Personal:
    """Why a field that names a person is there, and how long it stays; None: it is not said."""

    purpose: str | None
    retention: str | None
    """A length of time, `for ever` or `newest per key`, as the topic keeps its records."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its type is a row of the table in contracts/mapping.py."""

    name: str
    type: str
    required: bool
    description: str
    unit: str | None = None
    examples: tuple[str | bytes | int | bool | datetime, ...] = ()
    item: str | None = None
    """The name of one element of an array."""
    item_description: str | None = None
    fields: tuple["Field", ...] = ()
    """The fields of an array's element."""
    personal: Personal | None = None
    """Of a field that names a person, or that may."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that every record meets. Its name is reported for a record that breaks it."""

    name: str
    kind: str
    """A row of the table in contracts/rules.py."""
    path: tuple[str, ...]
    """("lines", "units"): the units of every line."""
    limit: Limit
    description: str | None = None


@dataclass(frozen=True, slots=True)
class InvalidExample:
    """A record that breaks one rule, and no other."""

    rule: str
    value: Row


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The settings of the topic: the number of partitions, and the broker's configuration."""

    partitions: int
    config: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Contract:
    """Everything that is agreed about one topic or view. There is one object per contract."""

    name: str
    kind: Literal["topic", "view"]
    visibility: str
    domain: str
    entity: str
    major: int
    version: str
    """major.minor.patch. Of released versions, the last; a compatible change raises it."""
    owner: str
    description: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    event_time: str | None
    horizon: timedelta | None
    """How long after it happened an event may be published and still be applied."""
    skew: timedelta | None
    """How long before it happened an event may be published, by a clock that is ahead."""
    began: str | None
    """The first time in the key: the beginning of what a row is about."""
    retention: timedelta | None
    """How much longer ago than in the newest row that may be, before readers drop the row."""
    grace: timedelta | None
    """How long after the end of what a row tells of an event may be published and be on time."""
    rules: tuple[Rule, ...]
    settings: TopicSettings
    examples: tuple[Row, ...]
    invalid_examples: tuple[InvalidExample, ...]
    readers: tuple[str, ...] = ()
    """The consumers outside its domain that may read a private topic."""
    sunset: date | None = None
    """The day until which it is kept up, where a newer major version exists beside it."""

    @property
    def file(self) -> str:
        """The path of its file, relative to the folder of contracts."""
        return f"{self.kind}s/{self.domain}/{self.entity}.v{self.major}.yaml"

    @property
    def times(self) -> frozenset[str]:
        """The fields that are times."""
        return frozenset(field.name for field in self.fields if field.type == "timestamp")

    def __repr__(self) -> str:
        return f"Contract({self.name})"
