"""The consumers' files: the topics and fields that each uses, and what it relies on."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import timedelta
from pathlib import Path as File
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from contracts.errors import BadContract, BadContracts, Faults, Location
from contracts.projection import Path, list_leaves, parse_path
from contracts.shape import Contract
from contracts.syntax import describe_value, parse_yaml, read_text, set_lines, suggest

FOR_EVER = "for ever"
NEWEST_PER_KEY = "newest per key"
SPANS = {"d": "days", "h": "hours", "min": "minutes", "s": "seconds"}


def parse_span(text: str) -> timedelta:
    """2 h, 5 min, 90 s. Raises ValueError."""
    number, _, unit = text.partition(" ")
    if not number.isdigit() or unit not in SPANS:
        raise ValueError(f"expected a length of time as 2 h, with {', '.join(SPANS)}")
    return timedelta(**{SPANS[unit]: int(number)})


def _parse_span_or(*words: str) -> AfterValidator:
    def check(text: str) -> str:
        if text not in words:
            parse_span(text)
        return text

    return AfterValidator(check)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Reliances(_Strict):
    """What a consumer relies on in a topic, beyond the types of its fields."""

    units: dict[str, str] = {}
    """By field: its unit."""
    sign: dict[str, Literal["positive", "not negative"]] = {}
    values: dict[str, list[str]] = {}
    """By field: the values that it handles."""
    at_most: dict[str, int] = {}
    """By field: the largest number, or the most items, that it handles."""
    order: list[str] | None = None
    """The fields of the key: records with equal values in them come in order."""
    unique: list[str] | None = None
    """The fields that identify a copy; in a view, a row."""
    late: Annotated[str, _parse_span_or()] | None = None
    """The longest time between an event and its publication."""
    kept: Annotated[str, _parse_span_or(FOR_EVER, NEWEST_PER_KEY)] | None = None
    """The shortest time for which the topic keeps a record."""

    @property
    def fields(self) -> set[str]:
        """The fields of which it expects more than their types."""
        return {*self.units, *self.sign, *self.values, *self.at_most}


class Use(_Strict):
    """What a consumer reads of one topic or view."""

    purpose: str = Field(alias="for", min_length=1)
    fields: Literal["all"] | list[str] = Field(min_length=1)
    relies_on: Reliances = Reliances()

    def list_paths(self, contract: Contract) -> tuple[Path, ...]:
        """The fields, whether the contract has them or not."""
        if self.fields == "all":
            return tuple(path for path, _ in list_leaves(contract.fields))
        return tuple(map(parse_path, self.fields))


class Consumer(_Strict):
    """A program that reads topics, of this project or of somebody else; most also write some."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    kind: Literal["pipeline", "service", "generator", "tool", "external"]
    domain: str
    owner: str
    description: str
    reads: dict[str, Use] = {}
    writes: list[str] = []


Consumers = Mapping[str, Consumer]


def find_readers(consumers: Consumers, topic: str) -> dict[str, Use]:
    return {name: one.reads[topic] for name, one in consumers.items() if topic in one.reads}


def find_writers(consumers: Consumers, topic: str) -> tuple[str, ...]:
    return tuple(name for name, one in consumers.items() if topic in one.writes)


def load_consumers(folder: File) -> Consumers:
    """Every consumer in the folder, by name. Raises BadContracts."""
    consumers, faults = load_all_consumers(folder)
    if faults:
        raise BadContracts(faults)
    return {name: one for name, one in consumers.items() if one is not None}


def load_all_consumers(
    folder: File,
) -> tuple[Mapping[str, Consumer | None], tuple[BadContract, ...]]:
    """The consumers, as far as each is understood, by name, and the faults of their files."""
    consumers: dict[str, Consumer | None] = {}
    found: list[BadContract] = []
    for file in sorted(folder.glob("*")):
        faults = Faults()
        consumers[file.stem] = faults.attempt("", None, _read, file, faults)
        found += faults.found
    return MappingProxyType(consumers), tuple(found)


def _read(file: File, faults: Faults) -> Consumer | None:
    """The consumer, without what is wrong with it; None where nothing is left."""
    text = read_text(file)
    raw = parse_yaml(text, file, faults)
    try:
        one = Consumer.model_validate(raw)
    except ValidationError as error:
        places = {_locate(raw, each["loc"]): each for each in error.errors(include_url=False)}
        faults.found += [_explain(file, at, each) for at, each in places.items()]
        set_lines(text, faults.found)
        return _read_rest(raw, places)
    with faults.collect():
        if file.name != f"{one.name}.yaml":
            stem = file.name.removesuffix(".yaml")
            raise BadContract(file, "name", stem, one.name, "Rename one.", ("name",))
    set_lines(text, faults.found)
    return one


def _read_rest(raw: dict[str, Any], places: Iterable[Location]) -> Consumer | None:
    rest = deepcopy(raw)
    for at in places:
        inner: Any = rest
        for part in at[:-1]:
            inner = inner[part]
        if isinstance(inner, dict):
            inner.pop(at[-1], None)
    try:
        return Consumer.model_validate(rest)
    except ValidationError:
        return None


def _locate(raw: Any, at: Location) -> Location:
    """The part of the file that an error is about: its place also names alternatives of a type."""
    for number, part in enumerate(at):
        inner = dict(enumerate(raw)) if isinstance(raw, list) else raw
        if not isinstance(inner, dict) or part not in inner:
            return at[: number + isinstance(raw, dict)]
        raw = inner[part]
    return at


# By pydantic's kind of error: what was expected, where the kind says it.
EXPECTED: Mapping[str, str] = {
    "missing": "a value",
    "string_type": "a text",
    "string_too_short": "a text",
    "too_short": "at least one",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a text like {pattern}",
    "value_error": "{error}",
}
MODELS: Mapping[int, type[BaseModel]] = {1: Consumer, 3: Use, 4: Reliances}
"""By the number of keys that lead to one of theirs: reads.<topic>.relies_on.<key>."""


def _explain(file: File, at: Location, error: ErrorDetails) -> BadContract:
    where = ".".join(map(str, at)) or "the file"
    if error["type"] == "extra_forbidden":
        known = _list_keys(MODELS[len(at)])
        expected, found = f"one of {', '.join(known)}", repr(at[-1])
        return BadContract(file, where, expected, found, suggest(at[-1], known), at)
    words = EXPECTED.get(error["type"], "another value").format(**error.get("ctx", {}))
    found = "none" if error["type"] == "missing" else describe_value(error["input"])
    expected = words.removeprefix("expected ")
    return BadContract(file, where, expected, found, "See its neighbours.", at)


def _list_keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
