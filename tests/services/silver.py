"""The lake's silver tables as the lake writes them, by another writer than Spark."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from contracts import RELEASES, Contract, Field, encode, encode_key
from contracts.validation import RELEASABLE
from infra.lake import Coverage, Folders
from tests.services.world import NOON

PARTITION = 1
TYPES = {
    "string": pa.string(),
    "bytes": pa.binary(),
    "int": pa.int32(),
    "long": pa.int64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
}
MOVES = (*RELEASABLE.values(), RELEASES)
"""The topics that move stock."""


class Silver:
    """Every event in partition 1 of its topic, each in a commit of its own."""

    def __init__(self, folders: Folders, topics: Sequence[Contract] = MOVES) -> None:
        self._folders = folders
        self._coverage: dict[Contract, Coverage] = {topic: Coverage() for topic in topics}
        for topic in topics:
            DeltaTable.create(str(folders.silver(topic)), schema=create_schema(topic))

    def put(self, topic: Contract, /, **changes: Any) -> int:
        """An event: its contract's example, changed. It is published when it happens.

        Returns its offset.
        """
        before = self._coverage[topic]
        offset = before.ends.get((topic.name, PARTITION), 0)
        place = {"_partition": PARTITION, "_offset": offset}
        row = {**topic.examples[0], **place, **changes}
        row.setdefault("_published", row["event_time"])
        self._coverage[topic] = before.then(
            {(topic.name, 0): 0, (topic.name, PARTITION): offset + 1}
        )
        self.append(topic, [row], self._coverage[topic])
        return offset

    def append(
        self, topic: Contract, rows: list[Mapping[str, Any]], coverage: Coverage | None
    ) -> None:
        properties = CommitProperties(
            custom_metadata={"userMetadata": coverage.to_json()} if coverage else None
        )
        table = pa.Table.from_pylist([dict(row) for row in rows], schema=create_schema(topic))
        write_deltalake(
            str(self._folders.silver(topic)), table, mode="append", commit_properties=properties
        )

    def remove(self, topic: Contract, offset: int) -> None:
        """Take an event away, as somebody does who mends the table."""
        written = {"userMetadata": self._coverage[topic].to_json()}
        DeltaTable(str(self._folders.silver(topic))).delete(
            f"_offset = {offset}", commit_properties=CommitProperties(custom_metadata=written)
        )

    def release(
        self, topic: Contract, offset: int = 77, released_at: datetime = NOON, **changes: Any
    ) -> int:
        """A release of an event that is in no table: its record lay at that offset."""
        original = {**topic.examples[0], **changes}
        return self.put(
            RELEASES,
            event_id=f"released/{topic.name}/2/{offset}",
            event_time=released_at,
            record_key=encode_key(topic, original).decode(),
            topic=topic.name,
            partition=2,
            offset=offset,
            original_event_id=original["event_id"],
            original_event_time=original["event_time"],
            value=encode(topic, original),
        )


def create_schema(topic: Contract) -> pa.Schema:
    places = {"_partition": pa.int32(), "_offset": pa.int64(), "_published": TYPES["timestamp"]}
    return pa.schema(
        [*map(create_column, topic.fields), *(pa.field(*column) for column in places.items())]
    )


def create_column(field: Field) -> "pa.Field[Any]":
    if field.type == "array":
        return pa.field(field.name, pa.list_(pa.struct([*map(create_column, field.fields)])))
    return pa.field(field.name, TYPES[field.type])
