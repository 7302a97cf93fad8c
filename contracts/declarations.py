"""The consumers' files: the topics and fields that each uses, and what it relies on."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path as File
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from contracts.errors import BadContract, Location, read_all
from contracts.projection import Path, list_leaves, parse_path
from contracts.shape import Contract
from contracts.syntax import locate_fault, parse_yaml, read_text

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
    files = sorted(folder.glob("*"))
    return {one.name: one for one in read_all(partial(_read, file) for file in files)}


def _read(file: File) -> Consumer:
    text = read_text(file)
    with locate_fault(file, text):
        raw = parse_yaml(text)
        try:
            one = Consumer.model_validate(raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            at = _locate(raw, first["loc"])
            where, found = ".".join(map(str, at)), repr(first["input"])
            expected, advice = "what its neighbours have", f"{first['msg']}."
            raise BadContract(where, expected, found, advice, at) from error
        if file.name != f"{one.name}.yaml":
            raise BadContract("name", file.stem, one.name, "Rename one.", ("name",))
        return one


def _locate(raw: Any, at: Location) -> Location:
    """The part of the file that an error is about: its place also names alternatives of a type."""
    for number, part in enumerate(at):
        inner = dict(enumerate(raw)) if isinstance(raw, list) else raw
        if not isinstance(inner, dict) or part not in inner:
            return at[: number + isinstance(raw, dict)]
        raw = inner[part]
    return at
