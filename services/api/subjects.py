"""Contracts as a schema registry names them: a subject per topic, its schemas as versions."""

import json
import re
from dataclasses import dataclass
from functools import cache

from contracts import CONTRACTS, schemas_of

SUFFIX = "-value"  # of every subject: keys are plain text and have no schema
GENERATION = re.compile(r"\.g\d+$")


@dataclass(frozen=True)
class Version:
    subject: str
    number: int  # 1 for the subject's first schema
    schema_id: int
    text: str


@cache
def known() -> tuple[str, ...]:
    """Every subject there is."""
    return tuple(sorted(f"{name}{SUFFIX}" for name in CONTRACTS))


def versions(subject: str) -> tuple[Version, ...]:
    """The subject's schemas, oldest first; none where there is no such subject.

    The changelog of a generation has the schemas of its view: readers of the log know only that
    topic, not the view's bare name.
    """
    topic = subject.removesuffix(SUFFIX)
    view = CONTRACTS.get(GENERATION.sub("", topic))
    if view is not None and view.kind == "view":
        topic = view.name
    return _versions().get(topic, ()) if subject.endswith(SUFFIX) else ()


def with_id(schema_id: int) -> Version | None:
    return _by_id().get(schema_id)


@cache
def _versions() -> dict[str, tuple[Version, ...]]:
    return {
        contract.name: tuple(
            Version(f"{contract.name}{SUFFIX}", number, schema_id, _text(schema))
            for number, (schema_id, schema) in enumerate(sorted(schemas.items()), start=1)
        )
        for contract in CONTRACTS.values()
        if (schemas := schemas_of(contract))
    }


@cache
def _by_id() -> dict[int, Version]:
    return {each.schema_id: each for every in _versions().values() for each in every}


def _text(schema: object) -> str:
    return json.dumps(schema, separators=(",", ":"))
