"""The consumers' files: the topics and fields that each uses, and what it relies on."""

from collections.abc import Mapping
from pathlib import Path as File
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from contracts.errors import BadContract
from contracts.projection import Path, list_leaves, parse_path
from contracts.shape import Contract
from contracts.syntax import STRICT, explain, read_model, read_text
from contracts.times import parse_span

FOR_EVER = "for ever"
NEWEST_PER_KEY = "newest per key"


def _parse_span_or(*words: str) -> AfterValidator:
    def check(text: str) -> str:
        if text not in words:
            parse_span(text)
        return text

    return AfterValidator(check)


class _Strict(BaseModel):
    model_config = STRICT


class Reliances(_Strict):
    """What a consumer relies on in a topic, beyond the types of its fields."""

    units: dict[str, str] = {}
    """By field: its unit."""
    sign: dict[str, Literal["positive", "not negative"]] = {}
    values: dict[str, list[str]] = {}
    """By field: the values that it handles."""
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
        return {*self.units, *self.sign, *self.values}


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
    return {
        name: consumer.reads[topic]
        for name, consumer in consumers.items()
        if topic in consumer.reads
    }


def find_writers(consumers: Consumers, topic: str) -> tuple[str, ...]:
    return tuple(name for name, consumer in consumers.items() if topic in consumer.writes)


def load_consumers(folder: File) -> Consumers:
    """Every consumer in the folder, by name. Raises BadContract."""
    consumers, faults = load_all_consumers(folder)
    if faults:
        raise BadContract(faults)
    return consumers


def load_all_consumers(folder: File) -> tuple[Consumers, tuple[str, ...]]:
    """The consumers that are understood, by name, and the faults of the other files."""
    consumers: dict[str, Consumer] = {}
    faults: list[str] = []
    for file in sorted(folder.glob("*")):
        text = read_text(file)
        consumer, found = read_model(Consumer, text)
        if consumer and file.name != f"{consumer.name}.yaml":
            stem = file.name.removesuffix(".yaml")
            found.append(explain(text, ("name",), stem, consumer.name, "Rename one."))
        elif consumer:
            consumers[consumer.name] = consumer
        faults += (f"{file}{fault}" for fault in found)
    return MappingProxyType(consumers), tuple(faults)
