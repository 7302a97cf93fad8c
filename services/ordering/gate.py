"""The gate: for each review it waits until every event is known, decides, and orders once.

It skips a missed review: the next review sees the same shelves and orders what they lack.
"""

import logging
from threading import Event

from contracts import PROPOSALS
from infra.settings import Settings
from services import liveness
from services.ordering.decision import Limits, Order, decide
from services.ordering.publisher import OrderPublisher
from services.ordering.reader import (
    Reviews,
    find_marker,
    find_promoted,
    read_orders,
    read_proposals,
)

LOOK_SECONDS = 1.0

log = logging.getLogger("ordering")


def keep_gate(settings: Settings, stop: Event) -> None:
    """Order until `stop` is set. Raises UserError, TimeoutError and KafkaException."""
    reviews, publisher = Reviews(settings), OrderPublisher(settings)
    try:
        answered_ms = publisher.find_answered_ms()
        liveness.report_start(settings, "ordering")
        while not stop.is_set():
            answered_ms = answer_review(settings, reviews, publisher, answered_ms)
            stop.wait(LOOK_SECONDS)
    finally:
        publisher.close()


def answer_review(
    settings: Settings, reviews: Reviews, publisher: OrderPublisher, answered_ms: int
) -> int:
    """Answer the newest review if every event is known. Returns the last answered review."""
    due = reviews.find_due()
    if due is None or due[0] <= answered_ms:
        return answered_ms
    review_ms, now_ms = due
    generation = find_promoted(settings)
    marker = generation and find_marker(settings, generation)
    if not generation or not marker or not reviews.is_covered(marker, review_ms):
        return answered_ms
    proposed = read_proposals(settings, generation, marker)
    placed = read_orders(settings)
    ordered = [(one.shelf, one.review_ms, one.units) for one in placed]
    wanted = decide(review_ms, proposed, ordered, Limits())
    orders = drop_known(wanted, {one.order_id for one in placed})
    topic = generation.outputs[PROPOSALS.name]
    read = {at: end for at, end in marker.outputs.items() if at[0] == topic}
    publisher.publish(orders, review_ms, now_ms, read)
    log.info(
        "%d of %d orders let through, proposed by g%d", len(orders), len(wanted), generation.number
    )
    return review_ms


def drop_known(orders: list[Order], known: set[str]) -> list[Order]:
    """The orders that no gate has published, by their ids."""
    return [one for one in orders if one.order_id not in known]
