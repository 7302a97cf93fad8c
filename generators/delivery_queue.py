"""Decides when and how events are published: on time, late, twice, or spoilt."""

from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from contracts import Contract
from generators.chance import create_random
from generators.event import Dirt, Event
from generators.parameters import Parameters
from generators.ticks import HOUR_MS, TICK_MS

# The share of late events that a till sends twice: it was offline and does not know what arrived.
RESENT_WHEN_LATE_SHARE = 0.1
# The share of duplicates that follow within seconds, mostly in the same tick.
AT_ONCE_SHARE = 0.25
AT_ONCE_MS_MAX = 5_000
AGAIN_MS_MAX = 30 * TICK_MS
LATE_MS_MIN = TICK_MS
BEYOND_HORIZON_MS_MAX = 4 * HOUR_MS


class Record(NamedTuple):
    """An event that waits for its publication. Records sort in the order of publication."""

    published_ms: int
    order: int  # unique: a comparison never reaches the event
    topic: str
    key: str
    event: Event
    dirt: Dirt


class DeliveryQueue:
    """Events that have happened and wait to be published.

    An event that goes to quarantine is published once, and a duplicate of any other stays within
    the horizon. So the quarantine lists exactly the events that stock lacks.
    """

    def __init__(self, parameters: Parameters, horizons_ms: Mapping[str, int]) -> None:
        self._seed = parameters.seed
        self._horizons_ms = horizons_ms
        rates = parameters.list_dirt_rates()
        self._below = list(zip(accumulate(rates.values()), rates, strict=True))
        self._dirty_below = sum(rates.values())
        self._now: list[Record] = []
        self._later: list[Record] = []  # a heap
        self._order = 0
        self._random = create_random(self._seed, "dirt", 0).random

    def begin_hour(self, hour: int) -> None:
        self._random = create_random(self._seed, "dirt", hour).random

    def post_once(self, topic: Contract, event: Event, dirt: Dirt = Dirt.NONE) -> None:
        """Publish the event when it happens, once."""
        self._now.append(self._create_record(topic, event, 0, dirt))

    def post(self, topic: Contract, event: Event) -> None:
        """Publish the event as the world does: mostly on time, mostly once."""
        share = self._random()
        if share >= self._dirty_below:
            self.post_once(topic, event)
            return
        dirt = next((dirt for below, dirt in self._below if share < below), Dirt.NONE)
        if dirt is Dirt.LATE:
            self._post_late_or_twice(topic, event)
        elif dirt is Dirt.BEYOND_HORIZON:
            beyond_ms = 1 + int(self._random() * BEYOND_HORIZON_MS_MAX)
            self._wait(topic, event, self._horizons_ms[topic.name] + beyond_ms, dirt)
        elif dirt is Dirt.DUPLICATE:
            self.post_once(topic, event)
            self._post_again(topic, event, 0)
        else:
            self.post_once(topic, event, dirt)

    def post_late(self, topic: Contract, event: Event, delay_ms: int) -> None:
        """Publish the event once, `delay_ms` after it happened, which is within the horizon."""
        self._wait(topic, event, delay_ms, Dirt.LATE)

    def take_due(self, until_ms: int) -> list[Record]:
        """Remove and return the records that are published before `until_ms`, in order."""
        due, self._now = self._now, []
        while self._later and self._later[0].published_ms < until_ms:
            due.append(heappop(self._later))
        due.sort()
        return due

    def _post_late_or_twice(self, topic: Contract, event: Event) -> None:
        span_ms = self._horizons_ms[topic.name] - LATE_MS_MIN
        delay_ms = LATE_MS_MIN + int(self._random() * span_ms)
        self._wait(topic, event, delay_ms, Dirt.LATE)
        if self._random() < RESENT_WHEN_LATE_SHARE:
            self._post_again(topic, event, delay_ms)

    def _post_again(self, topic: Contract, event: Event, delay_ms: int) -> None:
        later_ms_max = AT_ONCE_MS_MAX if self._random() < AT_ONCE_SHARE else AGAIN_MS_MAX
        again_ms = delay_ms + int(self._random() * later_ms_max)
        self._wait(topic, event, min(again_ms, self._horizons_ms[topic.name]), Dirt.DUPLICATE)

    def _wait(self, topic: Contract, event: Event, delay_ms: int, dirt: Dirt) -> None:
        heappush(self._later, self._create_record(topic, event, delay_ms, dirt))

    def _create_record(self, topic: Contract, event: Event, delay_ms: int, dirt: Dirt) -> Record:
        self._order += 1
        [key] = topic.key
        published_ms = event["event_time"] + delay_ms
        return Record(published_ms, self._order - 1, topic.name, event[key], event, dirt)
