"""The consumers: one file each, with the topics and fields it uses and what it relies on.

A program decodes with `create_reader`, which returns the declared fields and no others: a program
that reads another field fails in its first test.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path as File
from types import MappingProxyType
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from contracts.codec import Decoded, decode
from contracts.errors import BadContract, Undeclared, UnknownConsumer
from contracts.odcs import Loader
from contracts.projection import Path, create_pruner, list_leaves, parse_path
from contracts.shape import Contract

FOLDER = File(__file__).parent / "consumers"
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


def load_consumers(folder: File) -> Mapping[str, Consumer]:
    """Every consumer in the folder, by name. Raises BadContract."""
    consumers = {}
    for file in sorted(folder.glob("*")):
        one = _read(file)
        consumers[one.name] = one
    return MappingProxyType(consumers)


def _read(file: File) -> Consumer:
    try:
        one = Consumer.model_validate(yaml.load(file.read_text(encoding="utf-8"), Loader=Loader))
    except yaml.YAMLError as error:
        raise BadContract(file, "the file", "YAML", error, "Mend its syntax.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadContract(
            file, where, first["msg"], repr(first["input"]), "See its neighbours."
        ) from error
    if file.name != f"{one.name}.yaml":
        raise BadContract(file, "name", file.name.removesuffix(".yaml"), one.name, "Rename one.")
    return one


CONSUMERS: Mapping[str, Consumer] = load_consumers(FOLDER)


def get_consumer(name: str) -> Consumer:
    """The consumer of the name. Raises UnknownConsumer."""
    try:
        return CONSUMERS[name]
    except KeyError:
        raise UnknownConsumer(name, CONSUMERS) from None


def list_declared(name: str, contract: Contract) -> tuple[Path, ...]:
    """The fields that a consumer reads of a topic. Raises Undeclared where it reads none."""
    use = get_consumer(name).reads.get(contract.name)
    if use is None:
        raise Undeclared(name, contract.name)
    return use.list_paths(contract)


def create_reader(name: str) -> Callable[[bytes | None], Decoded]:
    """`decode` for one consumer: a value holds the fields that its file declares, and no others.

    The function raises Undecodable, and Undeclared for a value of a topic that is not in the file.
    """
    pruned = cache(lambda contract: create_pruner(contract, list_declared(name, contract)))

    def read(data: bytes | None) -> Decoded:
        decoded = decode(data)
        return Decoded(decoded.contract, decoded.schema_id, pruned(decoded.contract)(decoded.value))

    return read
