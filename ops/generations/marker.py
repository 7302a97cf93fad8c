"""Markers: after each batch, the input offsets that a generation has reached, and its outputs'."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from contracts import MARKERS, Row, encode, encode_key
from contracts.times import to_epoch_ms
from infra.kafka import Offsets, read_high_watermarks, send
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, Reader, read_table
from ops.generations.record import Generation, get_wall_now

MARKERS_READ_MAX = 2_000
"""Of the last markers, so that pipelines that write rarely are among them."""


@dataclass(frozen=True)
class Marker:
    """The end of a batch. Offsets name the next record; times are epoch milliseconds."""

    pipeline: str
    generation: int
    batch: int
    inputs: Offsets
    outputs: Offsets
    written_at_ms: int  # wall clock
    took_ms: int | None = field(default=None, kw_only=True)
    """From the moment the batch was handed over until all its rows were acknowledged."""
    state_bytes: int | None = field(default=None, kw_only=True)
    """What the generation's state took, in memory and on disk, after an earlier batch."""
    records: Offsets | None = field(default=None, kw_only=True)
    """How many records were read, by input: offsets have gaps. None: of an earlier version."""

    @classmethod
    def parse(cls, value: Row) -> "Marker":
        """The marker in a decoded record of the marker topic."""
        return cls(
            pipeline=value["pipeline"],
            generation=value["generation"],
            batch=value["batch"],
            inputs=_parse_positions(value["inputs"], "offset"),
            outputs=_parse_positions(value["outputs"], "offset"),
            written_at_ms=to_epoch_ms(value["written_at"]),
            took_ms=value.get("took_ms"),
            state_bytes=value.get("state_bytes"),
            records=_parse_positions(value["inputs"], "records") or None,
        )

    def to_row(self) -> Row:
        """The inverse of `parse`: the value of a record."""
        records = self.records or {}
        return {
            "pipeline": self.pipeline,
            "generation": self.generation,
            "batch": self.batch,
            "inputs": [
                {**position, "records": records.get((position["topic"], position["partition"]))}
                for position in _list_positions(self.inputs)
            ],
            "outputs": _list_positions(self.outputs),
            "written_at": self.written_at_ms,
            "took_ms": self.took_ms,
            "state_bytes": self.state_bytes,
        }


def read_markers(
    settings: Settings, reader: Reader = ALL_FIELDS, records_max: int | None = None
) -> dict[tuple[str, int], Marker]:
    """The newest marker of each generation, by pipeline and number.

    With `records_max`, of generations among that number of last records. Raises as `read_table`
    does.
    """
    rows = read_table(settings, reader, MARKERS, records_max=records_max).values()
    return {(each.pipeline, each.generation): each for each in map(Marker.parse, rows)}


def read_marker(
    settings: Settings, pipeline: str, generation: int, reader: Reader = ALL_FIELDS
) -> Marker | None:
    """The generation's newest marker; None before the first. Raises as `read_table` does."""
    return read_markers(settings, reader).get((pipeline, generation))


def _parse_positions(positions: Iterable[Row], field: str) -> Offsets:
    return {
        (position["topic"], position["partition"]): position[field]
        for position in positions
        if position.get(field) is not None
    }


def _list_positions(offsets: Offsets) -> list[Row]:
    return [
        {"topic": topic, "partition": partition, "offset": offset}
        for (topic, partition), offset in sorted(offsets.items())
    ]


def publish_marker(
    producer: Producer,
    admin: AdminClient,
    generation: Generation,
    batch: int,
    inputs: Offsets,
    records: Offsets | None = None,
    *,
    took_ms: int | None = None,
    state_bytes: int | None = None,
) -> None:
    """Publish the marker of a batch whose rows are all acknowledged.

    A batch that is run again publishes its marker again, with the same inputs.
    """
    marker = Marker(
        pipeline=generation.pipeline,
        generation=generation.number,
        batch=batch,
        inputs=inputs,
        outputs=read_high_watermarks(admin, generation.outputs.values(), patient=True),
        written_at_ms=to_epoch_ms(get_wall_now()),
        took_ms=took_ms,
        state_bytes=state_bytes,
        records=records,
    ).to_row()
    send(producer, MARKERS.name, encode_key(MARKERS, marker), encode(MARKERS, marker))
