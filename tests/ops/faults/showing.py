"""Outcomes for tests: all promises kept, unless said otherwise."""

from dataclasses import replace
from typing import Any

from ops.faults.fault import Checked, Outcome, Promise

PROMISE = Promise("views are served", answered=True, stale_seconds_max=30, healed_seconds_max=60)


KEPT = Outcome(
    fault="kill-broker",
    does="kill -9 of Kafka",
    done="killed broker, process 7",
    promise=PROMISE,
    lasted=1.0,
    unanswered=0.0,
    stale=31.0,
    healed=60.0,
    lacking="",
    checked=(Checked("inventory", exact=True),),
)


def outcome(**others: Any) -> Outcome:
    return replace(KEPT, **others)
