"""Markers: which input offsets a generation has reached, and where its outputs end."""

from collections.abc import Iterable, Mapping

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from contracts import MARKERS, encode, key
from infra.kafka import Partition, end_offsets, read_to_end, send
from infra.settings import Settings
from pipelines.common.generations.clock import wall_now
from pipelines.common.generations.generation import Generation


def publish_marker(
    producer: Producer,
    admin: AdminClient,
    generation: Generation,
    batch: int,
    inputs: Mapping[Partition, int],
) -> None:
    """Publish the marker of a batch whose rows have all been acknowledged.

    A batch that is run again publishes it again, with the same inputs.
    """
    marker = {
        "pipeline": generation.pipeline,
        "generation": generation.number,
        "batch": batch,
        "inputs": positions(inputs),
        "outputs": positions(end_offsets(admin, generation.outputs.values())),
        "written_at": wall_now(),
    }
    send(producer, MARKERS.name, key(MARKERS, marker), encode(MARKERS, marker))


def has_marker(settings: Settings, generation: Generation) -> bool:
    """Whether the generation has ever finished writing a batch."""
    identity = {"pipeline": generation.pipeline, "generation": generation.number}
    return key(MARKERS, identity) in read_to_end(settings, MARKERS.name)


def positions(offsets: Mapping[Partition, int]) -> list[dict[str, str | int]]:
    ordered: Iterable[tuple[Partition, int]] = sorted(offsets.items())
    return [
        {"topic": topic, "partition": partition, "offset": offset}
        for (topic, partition), offset in ordered
    ]
