"""Schemas and their ids, as schemas.lock.json pins them: an id once given never changes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from contracts.errors import StaleLock
from contracts.mapping import avro_schema
from contracts.shape import Contract

LOCK = Path(__file__).with_name("schemas.lock.json")


@dataclass(frozen=True, slots=True)
class Entry:
    """A schema that records of a topic are, or were, written with."""

    id: int
    topic: str
    schema: dict[str, Any]


@cache
def locked(file: Path = LOCK) -> tuple[Entry, ...]:
    """Every entry of the lock file, by id; none where there is no file yet."""
    if not file.exists():
        return ()
    return tuple(Entry(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def extended(entries: Sequence[Entry], contracts: Iterable[Contract]) -> tuple[Entry, ...]:
    """The entries, and a new one for every contract whose present schema has no id."""
    known = list(entries)
    for contract in contracts:
        schema = avro_schema(contract)
        if not any(one.topic == contract.name and one.schema == schema for one in known):
            following = max((one.id for one in known), default=0) + 1
            known.append(Entry(following, contract.name, schema))
    return tuple(known)


def text(entries: Iterable[Entry]) -> str:
    """The lock file's content: one entry per line, so that a difference shows one schema."""
    lines = [json.dumps(asdict(entry), separators=(",", ":")) for entry in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def registered_since(number: int, topic: str) -> bool:
    """Whether the lock file has a schema of the topic under this id that was not loaded here.

    Then a newer version of the project writes the topic, and whoever reads it has to be started
    again with that version: the record is none to reject.
    """
    if any(entry.id == number for entry in locked()):
        return False
    now = _locked_at(LOCK, LOCK.stat().st_mtime_ns if LOCK.exists() else 0)
    return any((entry.id, entry.topic) == (number, topic) for entry in now)


@lru_cache(maxsize=1)
def _locked_at(file: Path, _changed_ns: int) -> tuple[Entry, ...]:
    return locked.__wrapped__(file)


@cache
def schema_id(contract: Contract) -> int:
    """The id of the contract's present schema. Raises StaleLock where it has none."""
    schema = avro_schema(contract)
    for entry in locked():
        if entry.topic == contract.name and entry.schema == schema:
            return entry.id
    raise StaleLock(contract.name, LOCK)


def schemas_of(contract: Contract) -> Mapping[int, dict[str, Any]]:
    """Every schema that the topic's records may be written with, by id."""
    return {entry.id: entry.schema for entry in locked() if entry.topic == contract.name}
