"""What the gate knows: who is promoted, how far it has read, what it proposes, what is ordered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from confluent_kafka import TopicPartition

from contracts import GENERATIONS, HEARTBEATS, MARKERS, PROPOSALS, PURCHASE_ORDERS, key
from contracts.consumer import reader
from infra.kafka import Partition, admin, consumer, end_offsets, newest_ms, read_all, read_to_end
from infra.settings import Settings
from services.ordering.deciding import Proposal, Shelf

PIPELINE = "reorder"
DAY_MS = 86_400_000
ANSWER_SECONDS_MAX = 60.0
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

Offsets = Mapping[Partition, int]

decode = reader("ordering")


@dataclass(frozen=True)
class Promoted:
    """The generation whose proposals count, and where it writes them."""

    number: int
    topic: str


@dataclass(frozen=True)
class Reached:
    """A marker: up to where rows belong together."""

    inputs: Offsets
    outputs: Offsets


@dataclass(frozen=True)
class Given:
    """A purchase order that was published."""

    order_id: str
    shelf: Shelf
    review_ms: int
    units: int


def due_review(settings: Settings) -> tuple[int, int] | None:
    """The newest review that is over, and what time it certainly is in the world."""
    beats = newest_ms(admin(settings), [HEARTBEATS.name])
    if not beats:
        return None
    now_ms = max(beats.values())
    return now_ms // DAY_MS * DAY_MS, now_ms


def promoted(settings: Settings) -> Promoted | None:
    """None while no generation of the pipeline is promoted."""
    for value in read_to_end(settings, GENERATIONS.name).values():
        told = decode(value).value
        if told["pipeline"] != PIPELINE or told["promoted"] is None:
            continue
        for one in told["generations"]:
            for output in one["outputs"]:
                if one["number"] == told["promoted"] and output["view"] == PROPOSALS.name:
                    return Promoted(one["number"], output["topic"])
    return None


def reached(settings: Settings, generation: Promoted) -> Reached | None:
    """The generation's newest marker."""
    named = key(MARKERS, {"pipeline": PIPELINE, "generation": generation.number})
    value = read_to_end(settings, MARKERS.name).get(named)
    if value is None:
        return None
    told = decode(value).value
    return Reached(_offsets(told["inputs"]), _offsets(told["outputs"]))


def covers(settings: Settings, marker: Reached, review_ms: int) -> bool:
    """Whether everything that was published before the review has been read by the marker.

    A heartbeat of the review's time or later must be in the log: all before it is there by then.
    """
    ends = end_offsets(admin(settings), {topic for topic, _ in marker.inputs})
    asking = consumer(settings)
    try:
        found = asking.offsets_for_times(
            [TopicPartition(*at, review_ms) for at in ends], timeout=ANSWER_SECONDS_MAX
        )
    finally:
        asking.close()
    needed = {
        (at.topic, at.partition): at.offset if at.offset >= 0 else ends[at.topic, at.partition]
        for at in found
    }
    return all(marker.inputs.get(at, 0) >= offset for at, offset in needed.items())


def proposals(settings: Settings, generation: Promoted, marker: Reached) -> list[Proposal]:
    """The newest row of each key, below the marker's outputs."""
    ends = {at: end for at, end in marker.outputs.items() if at[0] == generation.topic}
    newest: dict[tuple[Shelf, int], tuple[int, Proposal]] = {}
    for value in read_all(settings, generation.topic, ends):
        row = decode(value).value
        shelf, review_ms = Shelf(row["store_id"], row["sku"]), _ms(row["review_at"])
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
                ),
            )
    return [proposal for _, proposal in newest.values()]


def given(settings: Settings) -> list[Given]:
    """Every purchase order that is committed."""
    found = []
    for value in read_all(settings, PURCHASE_ORDERS.name):
        row = decode(value).value
        shelf = Shelf(row["store_id"], row["sku"])
        found.append(Given(row["purchase_order_id"], shelf, _ms(row["review_at"]), row["units"]))
    return found


def _offsets(positions: list[dict[str, str | int]]) -> dict[Partition, int]:
    return {(str(at["topic"]), int(at["partition"])): int(at["offset"]) for at in positions}


def _ms(at: datetime) -> int:
    return (at - EPOCH) // MILLISECOND
