"""A contract, as the loader returns it: read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

Row = Mapping[str, Any]
"""A value of a contract: field name → value; an array is a list of rows."""

Limit = int | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Personal:
    """Purpose and retention of a field that names a person; None where the contract has none."""

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
    per: str | None = None
    """The field beside it that says what the number is per, where it is given. Who reads the number
    has to read that field too."""
    examples: tuple[str | bytes | int | bool | datetime, ...] = ()
    item: str | None = None
    """The name of one element of an array."""
    item_description: str | None = None
    fields: tuple["Field", ...] = ()
    """The fields of an array's element."""
    personal: Personal | None = None
    """Set for a field that names a person, or may name one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition of every record. Its name is the reason why a record is rejected."""

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
    """The agreement about one topic or view. There is one object per contract."""

    name: str
    kind: Literal["topic", "view"]
    visibility: str
    domain: str
    entity: str
    major: int
    version: str
    """major.minor.patch of the last released version; a compatible change raises it."""
    owner: str
    description: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    event_time: str | None
    horizon: timedelta | None
    """The longest time from an event to its publication, for readers to apply it."""
    skew: timedelta | None
    """The longest time from an event's publication to the event: a clock may be ahead."""
    began: str | None
    """The first time in the key: when the period of a row begins."""
    retention: timedelta | None
    """Readers drop a row whose period began this much before that of the newest row."""
    grace: timedelta | None
    """An event is on time for a row if it is published within this time after the row's period."""
    rules: tuple[Rule, ...]
    settings: TopicSettings
    examples: tuple[Row, ...]
    invalid_examples: tuple[InvalidExample, ...]
    readers: tuple[str, ...] = ()
    """The consumers outside its domain that may read a private topic."""
    sunset: date | None = None
    """The last day on which it is supported, where a newer major version exists beside it."""

    @property
    def file(self) -> str:
        """The path of its file, relative to the folder of contracts."""
        return f"{self.kind}s/{self.domain}/{self.entity}.v{self.major}.yaml"

    @cached_property
    def times(self) -> frozenset[str]:
        """The fields that are times."""
        return frozenset(field.name for field in self.fields if field.type == "timestamp")

    def __repr__(self) -> str:
        return f"Contract({self.name})"
