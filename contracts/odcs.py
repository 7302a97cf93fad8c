"""The part of the Open Data Contract Standard 3.1 that these contracts use, as strict models.

The standard has more keys. Others than these are errors here, so that every line of a contract has
an effect. A list of named elements is read as a mapping from name to element.
"""

# ruff: noqa: N815  # attributes have the names of the standard's keys

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, model_validator

from contracts.mapping import TYPES
from contracts.rules import is_pattern
from contracts.shape import Limit
from contracts.syntax import STRICT, describe_value, refuse

NAME = re.compile(r"[a-z][a-z0-9_]*")
PARTITIONS_MAX = 1024

# By type: the standard's logicalTypeOptions that it may have, and the kind of rule of each.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "string": {name: name for name in ("minLength", "maxLength", "pattern")},
    "bytes": {"maxLength": "maxBytes"},
    "int": {name: name for name in ("minimum", "maximum")},
    "long": {name: name for name in ("minimum", "maximum")},
    "array": {name: name for name in ("minItems", "maxItems")},
}


def _index(listed: Any, naming: str) -> dict[str, Any]:
    """The elements of a list by the value of this key, without it."""
    if not isinstance(listed, list):
        raise refuse("a list", describe_value(listed), "See its neighbours.")
    indexed: dict[str, Any] = {}
    for element in listed:
        name = element.get(naming) if isinstance(element, dict) else None
        if not isinstance(name, str):
            raise refuse(f"elements with a {naming}", describe_value(name), "Name each.")
        if name in indexed:
            raise refuse(f"one of the {naming} {name}", "two", "Remove or rename one of them.")
        indexed[name] = {key: value for key, value in element.items() if key != naming}
    return indexed


def _take_values(listed: Any) -> dict[str, Any]:
    """The values of custom properties, by name."""
    indexed = _index(listed, "property")
    for name, element in indexed.items():
        if not element.keys() <= {"value", "description"}:
            raise refuse(f"value and description of {name}", ", ".join(element), "Mend it.")
    return {name: element.get("value") for name, element in indexed.items()}


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise refuse("a name like unit_price_cents", repr(name), "Rename it.")
    return name


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, BeforeValidator(_check_name)]
Custom = BeforeValidator(_take_values)
ByName = BeforeValidator(lambda listed: _index(listed, "name"))


class Strict(BaseModel):
    model_config = STRICT


class FieldTerms(Strict):
    """The custom properties of a field."""

    unit: Text | None = None
    per: Text | None = None
    purpose: Text | None = None
    retention: Text | None = None


class ValidValues(Strict):
    """What a quality check of a field says: no other values than these."""

    validValues: list[str] = Field(min_length=1)


class FieldCheck(Strict):
    metric: Literal["invalidValues"]
    arguments: ValidValues
    mustBe: Literal[0]


class Item(Strict):
    """One element of an array."""

    name: Name
    description: Text
    logicalType: Literal["object"]
    properties: Annotated[dict[Name, "Property"], ByName] = Field(min_length=1)


class Property(Strict):
    """A field."""

    description: Text
    logicalType: str
    physicalType: str | None = None
    required: bool
    classification: Literal["personal"] | None = None
    logicalTypeOptions: dict[str, Any] = {}
    quality: list[FieldCheck] = []
    examples: list[Any] = []
    customProperties: Annotated[FieldTerms, Custom] = FieldTerms()
    items: Item | None = None

    @property
    def type(self) -> str:
        """Its type, a row of the table; empty where no row is like it."""
        written = self.logicalType, self.physicalType
        return next(
            (kind for kind, row in TYPES.items() if (row.logical, row.physical) == written), ""
        )

    @model_validator(mode="after")
    def _suit_its_type(self) -> Self:
        if not self.type:
            listed = ", ".join(
                "/".join(filter(None, (t.logical, t.physical))) for t in TYPES.values()
            )
            written = "/".join(filter(None, (self.logicalType, self.physicalType)))
            raise refuse(f"a type of {listed}", written, "Choose one of them.")
        if (self.type == "array") != (self.items is not None):
            found = "none" if self.items is None else f"items of {self.type}"
            raise refuse("items: objects, of an array only", found, "An array holds objects.")
        if self.type == "array" and self.classification:
            advice = "Classify its items' fields."
            raise refuse("no classification of an array", self.classification, advice)
        if self.quality and self.type != "string":
            raise refuse("validValues of a string only", self.type, "Remove quality.")
        return self

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        custom = self.customProperties
        if not self.classification and (custom.purpose or custom.retention):
            advice = "Say classification: personal."
            raise refuse("purpose and retention of a personal field only", "some", advice)
        for option, limit in self.logicalTypeOptions.items():
            _check_option(self.type, option, limit)
        for example in self.examples:
            try:
                parse_typed(self.type, example)
            except ValueError as error:
                found = str(error)
                raise refuse(f"examples of type {self.type}", found, "Mend it.") from None
        return self


class Condition(Strict):
    """A condition on a record as a whole: a field beside a value, or beside another field."""

    field: str
    notEqual: int | str | None = None
    lessThan: str | None = None
    atMost: str | None = None

    @property
    def limits(self) -> list[tuple[str, Limit]]:
        """The kinds of rule that are given, with the limit of each."""
        return [
            (kind, limit)
            for kind in ("notEqual", "lessThan", "atMost")
            if (limit := getattr(self, kind)) is not None
        ]

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.limits) != 1:
            raise refuse("one of notEqual, lessThan, atMost", len(self.limits), "Mend it.")
        return self


class RecordCheck(Strict):
    description: Text
    type: Literal["custom"]
    engine: Literal["predicate"]
    implementation: Condition


class Examples(Strict):
    """The custom properties of the schema."""

    examples: list[Any] = Field(min_length=1)
    invalidExamples: list[Any] = []


class Schema(Strict):
    name: str
    physicalType: str
    properties: Annotated[dict[Name, Property], ByName] = Field(min_length=1)
    quality: Annotated[dict[str, RecordCheck], ByName] = {}
    customProperties: Annotated[Examples, Custom]


class Promise(Strict):
    """A length of time, and why it is so long."""

    value: int = Field(ge=0)
    unit: Literal["s", "m", "h", "d"]
    element: str
    description: Text

    @property
    def length(self) -> timedelta:
        units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
        return timedelta(**{units[self.unit]: self.value})


class Terms(Strict):
    """The custom properties of a contract."""

    visibility: Literal["public", "private"]
    key: list[str] = Field(min_length=1)
    eventTime: str | None = None
    partitions: int = Field(ge=1, le=PARTITIONS_MAX)
    # The settings that a contract may give its topic; the others are the broker's defaults.
    topicConfig: dict[
        Literal[
            "cleanup.policy",
            "max.message.bytes",
            "message.timestamp.after.max.ms",
            "min.compaction.lag.ms",
            "retention.ms",
        ],
        str,
    ]
    readers: list[str] = []
    sunset: date | None = None


class Team(Strict):
    name: Text


class Description(Strict):
    purpose: Text
    usage: str | None = None
    limitations: str | None = None


class Document(Strict):
    """A file."""

    apiVersion: Literal["v3.1.0"]
    kind: Literal["DataContract"]
    id: str
    name: str
    domain: str
    version: str
    status: str
    team: Team
    description: Description
    customProperties: Annotated[Terms, Custom]
    slaProperties: Annotated[
        dict[Literal["horizon", "skew", "retention", "grace"], Promise],
        BeforeValidator(lambda listed: _index(listed, "property")),
    ] = {}
    schemas: list[Schema] = Field(alias="schema", min_length=1, max_length=1)


def parse_typed(kind: str, written: Any) -> Any:
    """A value of this type, from YAML. Raises ValueError."""
    if kind == "timestamp" and isinstance(written, str):
        written = datetime.fromisoformat(written)
        if written.tzinfo is None:
            raise ValueError(f"{written} without a zone")
    expected = TYPES[kind].value
    if not isinstance(written, expected) or isinstance(written, bool) != (expected is bool):
        raise ValueError(f"{written!r}")
    return written


def _check_option(kind: str, option: str, limit: Any) -> None:
    options = OPTIONS.get(kind, {})
    if option not in options:
        listed = ", ".join(options) or "none"
        raise refuse(f"logicalTypeOptions of {listed}", option, "Remove or rename it.")
    if option != "pattern":
        if type(limit) is not int:
            raise refuse(f"an integer as {option}", repr(limit), "Write a whole number.")
    elif not isinstance(limit, str) or not is_pattern(limit):
        raise refuse(
            "a pattern of literals, classes and counts from ^ to $, without /",
            repr(limit),
            "Only these mean the same in Java, Python and RE2.",
        )
