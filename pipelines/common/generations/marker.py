"""Publishing a generation's marker after each batch."""

from typing import NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from contracts import MARKERS, encode, encode_key
from contracts.times import to_epoch_ms
from control.generations import Generation
from control.marker import Marker, read_marker
from infra.kafka import Offsets, read_high_watermarks, send
from infra.settings import Settings
from pipelines.common.generations.clock import get_wall_now


class Effort(NamedTuple):
    """What a batch took; None where that is not known."""

    took_ms: int | None
    """From the moment it was handed over until all its rows were acknowledged."""
    state_bytes: int | None
    """What the generation's state took, in memory and on disk, after an earlier batch."""


UNKNOWN = Effort(None, None)


def publish_marker(
    producer: Producer,
    admin: AdminClient,
    generation: Generation,
    batch: int,
    inputs: Offsets,
    effort: Effort = UNKNOWN,
    records: Offsets | None = None,
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
        took_ms=effort.took_ms,
        state_bytes=effort.state_bytes,
        records=records,
    ).to_row()
    send(producer, MARKERS.name, encode_key(MARKERS, marker), encode(MARKERS, marker))


def has_marker(settings: Settings, generation: Generation) -> bool:
    """Whether the generation has ever finished writing a batch."""
    return read_marker(settings, generation.pipeline, generation.number) is not None
