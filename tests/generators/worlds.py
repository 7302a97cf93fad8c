"""Small worlds to test with, and what they publish."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from contracts import LEDGER, Contract
from generators import wire
from generators.event import Event, Publication
from generators.parameters import Parameters
from generators.resume import Published
from generators.ticks import TICKS_PER_HOUR
from generators.world import Input, World

CLEAN = Parameters(seed=1, stores=3, products=40, receipts_per_minute=12.0)
# Small, with much dirt: its hours take a moment.
SMALL = replace(
    CLEAN,
    duplicate_rate=0.05,
    late_rate=0.05,
    beyond_horizon_rate=0.01,
    future_rate=0.01,
    malformed_rate=0.01,
    unknown_schema_rate=0.01,
    broken_rule_rate=0.01,
    fraud_rate=0.01,
    look_alike_rate=0.02,
)
STORE_IDS = tuple(f"S{number:03d}" for number in range(SMALL.stores))


class Past:
    """What a world has published so far, tick by tick: every test of it reads the same past."""

    def __init__(self, parameters: Parameters) -> None:
        self._world = World(parameters)
        self._ticks: list[list[Publication]] = []

    def list_ticks(self, hours: int) -> list[list[Publication]]:
        while len(self._ticks) < hours * TICKS_PER_HOUR:
            self._ticks.append(self._world.tick())
        return self._ticks[: hours * TICKS_PER_HOUR]


remember = cache(Past)


@cache
def publish_hours(count: int, parameters: Parameters = SMALL) -> tuple[Publication, ...]:
    return tuple(chain.from_iterable(remember(parameters).list_ticks(count)))


@cache
def publish_world(parameters: Parameters, topic: Contract, hours: int) -> tuple[Event, ...]:
    ticks = chain.from_iterable(remember(parameters).list_ticks(hours))
    return tuple(publication.event for publication in ticks if publication.topic == topic.name)


def live(
    world: World, hours: int, heard: Mapping[int, Sequence[Input]] | None = None
) -> list[Publication]:
    """What the world publishes up to that hour. `heard`: by tick."""
    inputs = heard or {}
    return [
        publication
        for tick in range(world.next_tick, hours * TICKS_PER_HOUR)
        for publication in world.tick(inputs.get(tick, ()))
    ]


def to_published(publication: Publication) -> Published:
    """The publication as the log holds it, bytes and all."""
    key, value = publication.key.encode(), wire.encode_value(publication)
    return Published(publication.published_ms, publication.sequence, key, value)


def select_pages(publications: Iterable[Publication]) -> list[Publication]:
    """The ledger's among them."""
    return [publication for publication in publications if publication.topic == LEDGER.name]
