"""Reads the gate's input: the promoted generation, its marker, its proposals, and all orders."""

from dataclasses import dataclass

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from contracts import HEARTBEATS, PROPOSALS, PURCHASE_ORDERS
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from control.generations import Generation, read_generations
from control.marker import Marker, read_marker
from control.reading import Reader, read_rows
from infra.kafka import create_admin, create_consumer, read_end_offsets, read_newest_ms
from infra.settings import Settings
from services.ordering.decision import Proposal, Shelf

PIPELINE = "reorder"
DAY_MS = 86_400_000
ANSWER_SECONDS_MAX = 60.0

READER = Reader(create_reader("ordering"))


@dataclass(frozen=True)
class PlacedOrder:
    """A published purchase order."""

    order_id: str
    shelf: Shelf
    review_ms: int
    units: int


def find_due_review(client: AdminClient) -> tuple[int, int] | None:
    """The newest due review, and world time by the newest heartbeat, in epoch milliseconds."""
    beats = read_newest_ms(client, [HEARTBEATS.name])
    if not beats:
        return None
    now_ms = max(beats.values())
    return now_ms // DAY_MS * DAY_MS, now_ms


def find_promoted(settings: Settings) -> Generation | None:
    """The promoted generation of the pipeline; None while there is none."""
    known = read_generations(settings, READER).get(PIPELINE)
    return known.promoted if known else None


def find_marker(settings: Settings, generation: Generation) -> Marker | None:
    """The generation's newest marker; None before the first."""
    return read_marker(settings, PIPELINE, generation.number, READER)


def is_covered(settings: Settings, client: AdminClient, marker: Marker, review_ms: int) -> bool:
    """Whether the marker covers every record from before the review.

    The log must hold a heartbeat of the review's time or later: all earlier records precede it.
    """
    ends = read_end_offsets(client, {topic for topic, _ in marker.inputs})
    reader = create_consumer(settings)
    try:
        places = reader.offsets_for_times(
            [TopicPartition(*at, review_ms) for at in ends], timeout=ANSWER_SECONDS_MAX
        )
    finally:
        reader.close()
    needed = {
        (at.topic, at.partition): at.offset if at.offset >= 0 else ends[at.topic, at.partition]
        for at in places
    }
    return all(marker.inputs.get(at, 0) >= offset for at, offset in needed.items())


def read_proposals(settings: Settings, generation: Generation, marker: Marker) -> list[Proposal]:
    """The newest proposal of each key, up to the marker's outputs."""
    topic = generation.outputs[PROPOSALS.name]
    ends = {at: end for at, end in marker.outputs.items() if at[0] == topic}
    newest: dict[tuple[Shelf, int], tuple[int, Proposal]] = {}
    for row in read_rows(settings, READER, PROPOSALS, ends):
        shelf, review_ms = Shelf(row["store_id"], row["sku"]), to_epoch_ms(row["review_at"])
        known = newest.get((shelf, review_ms))
        if known is None or row["version"] >= known[0]:
            newest[shelf, review_ms] = (
                row["version"],
                Proposal(
                    shelf,
                    review_ms,
                    row["moved_units"],
                    row["reorder_point_units"],
                    row["order_up_to_units"],
                    row["pack_size_units"],
                    row["lead_time_days"],
                    row["measure"],
                ),
            )
    return [proposal for _, proposal in newest.values()]


def read_orders(settings: Settings) -> list[PlacedOrder]:
    """Every committed purchase order."""
    orders = []
    ends = read_end_offsets(create_admin(settings), [PURCHASE_ORDERS.name])
    for row in read_rows(settings, READER, PURCHASE_ORDERS, ends):
        shelf = Shelf(row["store_id"], row["sku"])
        orders.append(
            PlacedOrder(
                row["purchase_order_id"], shelf, to_epoch_ms(row["review_at"]), row["units"]
            )
        )
    return orders
