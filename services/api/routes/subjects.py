"""Contracts in the terms of a schema registry: a topic is a subject, its schemas are versions."""

import json
import re
from dataclasses import dataclass
from functools import cache

from contracts import CONTRACTS, find_schemas

SUFFIX = "-value"  # of every subject; keys are plain text without a schema
GENERATION = re.compile(r"\.g\d+$")


@dataclass(frozen=True)
class Version:
    subject: str
    number: int  # 1 for the subject's first schema
    schema_id: int
    text: str


@cache
def list_subjects() -> tuple[str, ...]:
    """Every subject."""
    return tuple(sorted(f"{name}{SUFFIX}" for name in CONTRACTS))


def list_versions(subject: str) -> tuple[Version, ...]:
    """The subject's schemas, oldest first; empty if there is no such subject.

    A generation's changelog has the schemas of its view: readers of the log know only the topic's
    name.
    """
    topic = subject.removesuffix(SUFFIX)
    view = CONTRACTS.get(GENERATION.sub("", topic))
    if view is not None and view.kind == "view":
        topic = view.name
    return _list_versions().get(topic, ()) if subject.endswith(SUFFIX) else ()


def find_by_id(schema_id: int) -> Version | None:
    return _index_by_id().get(schema_id)


@cache
def _list_versions() -> dict[str, tuple[Version, ...]]:
    return {
        contract.name: tuple(
            Version(f"{contract.name}{SUFFIX}", number, schema_id, _render(schema))
            for number, (schema_id, schema) in enumerate(sorted(schemas.items()), start=1)
        )
        for contract in CONTRACTS.values()
        if (schemas := find_schemas(contract))
    }


@cache
def _index_by_id() -> dict[int, Version]:
    return {each.schema_id: each for every in _list_versions().values() for each in every}


def _render(schema: object) -> str:
    return json.dumps(schema, separators=(",", ":"))
