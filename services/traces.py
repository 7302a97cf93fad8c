"""Whether a record holds the id of a person: in a field of its event, or in bytes that no event
accounts for.

An event is read as validation reads it. What does not decode, and what stands beside an event, is
searched as bytes. So an id that is also a part of another text does not count within a sound event.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deltalake import DeltaTable

from contracts import CONTRACTS, QUARANTINE, RELEASES, Contract, Unencodable, encode, encode_key
from contracts.validation import Rejection, read
from infra.identities import FIELDS
from infra.kafka import Record, create_admin, read_between, read_high_watermarks, to_record
from infra.lake import find_newest_version, locate_folders
from infra.settings import Settings

SECONDS_MAX = 10.0
WRAPPING = (QUARANTINE, RELEASES)
"""The topics whose records hold a record of another topic whole."""
NUMBERS = frozenset({"sequence", "sent_at"})
"""The headers that a publisher of this project counts in: eight bytes, and no text."""
ROWS_PER_BATCH_MAX = 16_384
ARCHIVED = "in the lake's archive"


@dataclass(frozen=True)
class Traces:
    """The ids of a person, as they are searched for."""

    ids: frozenset[str]

    def are_in(self, record: Record) -> bool:
        """Whether the record holds one of the ids."""
        beside = [part for header in record.headers for part in _list_bytes(*header)]
        if not any(map(self._count, (record.key, record.value, *beside))):
            return False  # decoding only possible matches is ten times as fast
        contract = find_contract(record.topic)
        event = None if contract is None else read(contract, record.value)
        if contract is None or event is None or isinstance(event, Rejection):
            return True
        if record.key != encode_key(contract, event):
            beside.append(record.key or b"")
        return any(map(self._count, beside)) or self._name(contract, record.value, event)

    def _name(self, contract: Contract, value: bytes | None, event: dict[str, Any]) -> bool:
        """Whether the event names the person, or the value holds more than the event."""
        if not self.ids.isdisjoint(event.get(field) for field in FIELDS):
            return True
        if contract in WRAPPING and self.are_in(unwrap(event)):
            return True
        try:
            return self._count(value) > self._count(encode(contract, event))
        except Unencodable:
            return True

    def _count(self, data: bytes | None) -> int:
        return sum(data.count(person_id.encode()) for person_id in self.ids) if data else 0


def unwrap(event: dict[str, Any]) -> Record:
    """The record within a row of the quarantine, or within a release."""
    headers = [(header["name"], header["value"]) for header in event.get("headers", ())]
    key, found = event.get("key"), event.get("found")
    if event["value"] is None:  # it was too large: what was found in it is all that is left
        headers.append(("found", (found or "").encode()))
    if "record_key" in event:
        key = event["record_key"].encode()
    place = event["topic"], event["partition"], event["offset"]
    return Record(*place, 0, key, event["value"], headers)


def find_trace(settings: Settings, ids: frozenset[str]) -> str | None:
    """The place of the first record that holds one of the ids, in the log or the archive.

    It reads aborted records, too: their bytes stay in the log.
    """
    traces = Traces(ids)
    for record, where in _read_all(settings):
        if traces.are_in(record):
            return f"{record.topic}/{record.partition}/{record.offset}{where}"
    return None


def find_contract(topic: str) -> Contract | None:
    """The contract of a topic, or of a generation's changelog."""
    return CONTRACTS.get(topic) or CONTRACTS.get(topic.rpartition(".g")[0])


def may_name(topic: str) -> bool:
    """Whether records of the topic may hold an id that none of another topic holds.

    A view without a field for the id has only what accepted events say.
    """
    contract = find_contract(topic)
    if contract is None:
        return False
    return contract.kind == "topic" or any(field.name in FIELDS for field in contract.fields)


def _read_all(settings: Settings) -> Iterator[tuple[Record, str]]:
    """Every record of the log and of the archive, and what to say after its place."""
    client = create_admin(settings)
    topics = filter(may_name, client.list_topics(timeout=SECONDS_MAX).topics)
    ends = read_high_watermarks(client, topics)
    for message in read_between(settings, {}, ends, isolation_level="read_uncommitted"):
        yield to_record(message), ""
    for record in read_archive(settings):
        yield record, f" {ARCHIVED}"


def read_archive(settings: Settings) -> Iterator[Record]:
    """Every record of the lake's copy of the log; none where there is no lake."""
    folder = locate_folders(settings).bronze
    if find_newest_version(folder) < 0:
        return
    table = DeltaTable(str(folder)).to_pyarrow_dataset()
    for batch in table.scanner(batch_size=ROWS_PER_BATCH_MAX).to_reader():
        for row in batch.to_pylist():
            headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
            place = row["topic"], row["partition"], row["offset"]
            yield Record(*place, 0, row["key"], row["value"], headers)


def _list_bytes(name: str, value: bytes | None) -> tuple[bytes, ...]:
    return (name.encode(), b"" if name in NUMBERS else value or b"")
