"""Schemas and their ids, as schemas.lock.json pins them: an id never changes."""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from contracts.errors import StaleLock
from contracts.mapping import build_avro_schema
from contracts.shape import Contract

LOCK = Path(__file__).with_name("schemas.lock.json")
NEWER_LOCK = "SCHEMA_LOCK"
"""The environment variable that names a newer lock. Pinned code needs it: its own lock lacks the
schemas of newer writers."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A schema of a topic's records, present or former."""

    id: int
    topic: str
    schema: dict[str, Any]


def load_lock(file: Path = LOCK) -> tuple[Entry, ...]:
    """Every entry of the lock file, by id; none where there is no file yet."""
    if not file.exists():
        return ()
    return tuple(Entry(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def extend(entries: Sequence[Entry], contracts: Iterable[Contract]) -> tuple[Entry, ...]:
    """The entries, and a new one for every contract whose present schema has no id."""
    extended = list(entries)
    for contract in contracts:
        schema = build_avro_schema(contract)
        if not any(entry.topic == contract.name and entry.schema == schema for entry in extended):
            following = max((entry.id for entry in extended), default=0) + 1
            extended.append(Entry(following, contract.name, schema))
    return tuple(extended)


def render_lock(entries: Iterable[Entry]) -> str:
    """The lock file's content: one entry per line, so that a difference shows one schema."""
    lines = [json.dumps(asdict(entry), separators=(",", ":")) for entry in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


@cache
def load_known() -> tuple[Entry, ...]:
    """Every schema that this process can read: its code's, and those of a newer lock, if any.

    Raises StaleLock.
    """
    return merge(load_lock(), load_lock(find_newest_lock()))


def merge(own: Iterable[Entry], others: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries of two locks, one of which has more. Raises StaleLock."""
    entries = {entry.id: entry for entry in own}
    for other in others:
        if entries.setdefault(other.id, other) != other:
            raise StaleLock(
                f"schema {other.id} should mean one thing, but two locks give it to a schema of "
                f"{entries[other.id].topic} and to another, of {other.topic}. Give the newer one "
                "the next free id: retail contracts release"
            )
    return tuple(entries[number] for number in sorted(entries))


def find_newest_lock() -> Path:
    """The lock file that gets a new schema first."""
    return Path(os.environ.get(NEWER_LOCK) or LOCK)


def find_registered_since(topics: Collection[str]) -> frozenset[int]:
    """The schemas of these topics that the lock has now and this process has not loaded.

    A reader must not reject records with such a schema: it has to be started again.
    """
    file = find_newest_lock()
    newest = _read_at(file, file.stat().st_mtime_ns if file.exists() else 0)
    ids = frozenset(entry.id for entry in newest if entry.topic in topics)
    return ids - {entry.id for entry in load_known()}


@lru_cache(maxsize=1)
def _read_at(file: Path, _changed_ns: int) -> tuple[Entry, ...]:
    return load_lock(file)


@cache
def get_schema_id(contract: Contract) -> int:
    """The id of the contract's present schema. Raises StaleLock where it has none."""
    schema = build_avro_schema(contract)
    for entry in load_known():
        if entry.topic == contract.name and entry.schema == schema:
            return entry.id
    raise StaleLock(
        f"{contract.name}: expected an id for its present schema in {LOCK.name}, found none. "
        "Give it one: retail contracts release"
    )


def find_schemas(contract: Contract) -> Mapping[int, dict[str, Any]]:
    """Every schema that the topic's records may be written with, by id."""
    return {entry.id: entry.schema for entry in load_known() if entry.topic == contract.name}
