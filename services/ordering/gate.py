"""The gate at work: review after review, it waits until all is known, decides, and orders once.

A review that was missed is not made up for: the next one sees the same shelves, and orders what
they lack by then.
"""

import logging
from threading import Event

from infra.settings import Settings
from services import sign
from services.ordering.deciding import Limits, Order, decide
from services.ordering.publishing import Publishing
from services.ordering.reading import covers, due_review, given, promoted, proposals, reached

LOOK_SECONDS = 1.0

log = logging.getLogger("ordering")


def keep_gate(settings: Settings, stop: Event) -> None:
    """Order until told to stop. Raises Fenced, TimeoutError and KafkaException."""
    publishing = Publishing(settings)
    try:
        answered_ms = publishing.answered_ms()
        sign.give(settings, "ordering")
        while not stop.is_set():
            answered_ms = answer(settings, publishing, answered_ms)
            stop.wait(LOOK_SECONDS)
    finally:
        publishing.close()


def answer(settings: Settings, publishing: Publishing, answered_ms: int) -> int:
    """Answer the newest review if it can be; returns the last one that is answered."""
    due = due_review(settings)
    if due is None or due[0] <= answered_ms:
        return answered_ms
    review_ms, now_ms = due
    generation = promoted(settings)
    marker = generation and reached(settings, generation)
    if not generation or not marker or not covers(settings, marker, review_ms):
        return answered_ms
    proposed = proposals(settings, generation, marker)
    already = given(settings)
    ordered = [(one.shelf, one.review_ms, one.units) for one in already]
    wanted = decide(review_ms, proposed, ordered, Limits())
    orders = new(wanted, {one.order_id for one in already})
    read = {at: end for at, end in marker.outputs.items() if at[0] == generation.topic}
    publishing.publish(orders, review_ms, now_ms, read)
    log.info(
        "%d of %d orders let through, proposed by g%d", len(orders), len(wanted), generation.number
    )
    return review_ms


def new(orders: list[Order], known: set[str]) -> list[Order]:
    """Those whose id was never published, by whomever."""
    return [one for one in orders if one.order_id not in known]
