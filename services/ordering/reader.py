"""Reads the gate's input: the promoted generation, its marker, its proposals, and all orders."""

from dataclasses import dataclass

from contracts import PROPOSALS, PURCHASE_ORDERS
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.kafka import Offsets, create_admin, read_end_offsets
from infra.settings import Settings
from ops.control.reading import Reader, read_rows
from ops.control.world_clock import read_beat_ms
from ops.generations.marker import Marker, read_marker
from ops.generations.record import Generation, read_generations
from services.ordering.decision import Proposal, Shelf

PIPELINE = "reorder"
DAY_MS = 86_400_000

READER = Reader(create_reader("ordering"))


@dataclass(frozen=True)
class PlacedOrder:
    """A published purchase order."""

    order_id: str
    shelf: Shelf
    review_ms: int
    units: int


class Reviews:
    """The newest due review, and where the log ended when it was first seen to be due.

    Record timestamps do not say which records are from before a review: one of another time would
    stand for all that follow. A heartbeat does: all earlier records precede it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = create_admin(settings)
        self._review_ms = 0
        self._ends: Offsets = {}

    def find_due(self) -> tuple[int, int] | None:
        """The newest due review, and world time by heartbeats, in epoch milliseconds."""
        now_ms = read_beat_ms(self._settings)
        return None if now_ms is None else (now_ms // DAY_MS * DAY_MS, now_ms)

    def is_covered(self, marker: Marker, review_ms: int) -> bool:
        """Whether the marker covers every record from before the review, which is due."""
        if review_ms != self._review_ms:
            topics = {topic for topic, _ in marker.inputs}
            self._ends, self._review_ms = read_end_offsets(self._client, topics), review_ms
        return all(marker.inputs.get(at, 0) >= end for at, end in self._ends.items())


def find_promoted(settings: Settings) -> Generation | None:
    """The promoted generation of the pipeline; None while there is none."""
    known = read_generations(settings, READER).get(PIPELINE)
    return known.promoted if known else None


def find_marker(settings: Settings, generation: Generation) -> Marker | None:
    """The generation's newest marker; None before the first."""
    return read_marker(settings, PIPELINE, generation.number, READER)


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
