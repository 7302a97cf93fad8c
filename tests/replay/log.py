"""One log of all that can happen: a simulated world with every kind of dirt, releases, tills whose
clocks are ahead, facts of any notice, and goods that are sold by a measure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from contracts import (
    DIMENSIONS,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    encode,
    encode_key,
    get_contract,
)
from contracts.measures import MEASURES
from contracts.partitions import choose_partition
from generators import wire
from generators.chance import create_random as of_id
from generators.event import Dirt, Event, Publication
from generators.parameters import Parameters
from generators.ticks import TICK_MS, TICKS_PER_HOUR, to_tick_start_ms
from generators.world import World
from infra.kafka import Partition
from pipelines.common.pipeline import Pipeline
from pipelines.engine.sink import list_decoded_topics

HOURS = 20
"""From the morning on, over midnight, until what ended then is closed three hours later. A live
generation forgets the ids of the first fourteen: after twice its memory of three hours."""

WORLD = Parameters(
    seed=1,
    stores=5,
    products=40,
    receipts_per_minute=5.0,
    duplicate_rate=0.05,
    late_rate=0.05,
    beyond_horizon_rate=0.04,
    future_rate=0.01,
    malformed_rate=0.02,
    unknown_schema_rate=0.01,
    broken_rule_rate=0.01,
    fraud_rate=0.01,
    look_alike_rate=0.02,
)

RELEASED = {Dirt.BEYOND_HORIZON: 0.3, Dirt.MALFORMED: 0.1}
"""Of the rejected, the share that is released. What is malformed cannot be, and is rejected
again."""
TWICE_SHARE = 0.4
RELEASE_TICKS_MAX = 60
AHEAD_SHARE = 0.5
MEASURED_SHARE = 0.4
"""Of the products, those that are sold by a measure."""
CONTRADICTING_SHARE = 0.05
"""Of the lines, those whose measure is drawn, whatever their product says."""
UNITS = (1, 499, 500, 501, 999, 1_000, 1_001, 1_500)
"""Of many measured lines: 500 of them at an odd price come to half a cent."""


RESTARTING_SHARE = 0.5
"""Of the stores, those whose tills count anew every COUNTER_TICKS."""
COUNTER_TICKS = 5 * TICKS_PER_HOUR
"""A live generation remembers for less than that."""
MISLAID_SHARE = 0.02
SPOILT_BEATS: Mapping[int, Sequence[int]] = {
    60: (253_402_300_000_000, 1),
    7 * TICKS_PER_HOUR: (253_402_300_000_000,),
}
"""By tick: heartbeats of the year 9999, and of 1970."""


NOTICE_MINUTES = (-10, 15)
"""How long before it is to hold a fact is published, at the least and at the most."""
STARTS_MINUTES_MAX, LASTS_MINUTES_MAX = 90, 600
"""Of a promotion: how long after its plan holds it begins, and how long it lasts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, and the partition that it goes to."""

    partition: Partition
    key: bytes
    value: bytes
    published_ms: int
    dirt: Dirt = Dirt.NONE


def draw_log(chance: Random) -> list[Entry]:
    """What a drawn world publishes, in its order."""
    world = World(replace(WORLD, seed=chance.getrandbits(31)))
    waiting: dict[int, list[Entry]] = {}  # releases, by tick
    facts: list[Publication] = []
    log: list[Entry] = []
    for tick in range(HOURS * TICKS_PER_HOUR):
        *events, beat = world.tick()
        published = [restart_counter(measure(shift_by_clock(event))) for event in events]
        facts = facts or [event for event in published if event.topic in DIMENSIONS]
        log += mislay(map(entry, published), chance)
        log.append(entry(draw_version(facts, tick, chance)))
        log += waiting.pop(tick, [])
        log.append(entry(beat))
        log += [spoil_beat(beat, world_ms) for world_ms in SPOILT_BEATS.get(tick, ())]
        for publication in published:
            for later in releases(publication, chance):
                due = tick + later
                waiting.setdefault(due, []).append(release(publication, to_tick_start_ms(due)))
    return log


def restart_counter(publication: Publication) -> Publication:
    """The event of a till that counts anew every few hours, and so uses ids again."""
    named = {RECEIPTS.name: "event_id", REFUNDS.name: "receipt_event_id"}.get(publication.topic)
    if named is None or publication.event[named] is None:
        return publication
    store, tick, number = publication.event[named].rsplit("-", 2)
    if of_id(store, "counter").random() >= RESTARTING_SHARE:
        return publication
    return publication._replace(
        event={**publication.event, named: f"{store}-{int(tick) % COUNTER_TICKS}-{number}"}
    )


def mislay(entries: Iterable[Entry], chance: Random) -> Iterator[Entry]:
    """The entries, and of some a copy in another partition: its client hashes keys otherwise."""
    for original in entries:
        topic, partition = original.partition
        width = get_contract(topic).settings.partitions
        yield original
        if width > 1 and chance.random() < MISLAID_SHARE:
            yield replace(
                original, partition=(topic, (partition + chance.randrange(1, width)) % width)
            )


def spoil_beat(beat: Publication, world_ms: int) -> Entry:
    """A heartbeat of another time, as its record's timestamp says, too."""
    event = {**beat.event, "event_id": f"spoilt-{world_ms}", "event_time": world_ms}
    return entry(beat._replace(published_ms=world_ms, event=event))


def select_read(log: Iterable[Entry], pipeline: Pipeline) -> list[Entry]:
    """The entries of the topics that the pipeline reads."""
    read = {topic.name for topic in list_decoded_topics(pipeline)}
    return [entry for entry in log if entry.partition[0] in read]


def shift_by_clock(publication: Publication) -> Publication:
    """The event as a till told it whose clock may be ahead, by no more than the contract allows.

    All copies of an event are the same; what comes too late stays too late.
    """
    skew = get_contract(publication.topic).skew
    if skew is None or publication.dirt is Dirt.BEYOND_HORIZON:
        return publication
    draw = of_id(publication.event["event_id"], "clock")
    if draw.random() >= AHEAD_SHARE:
        return publication
    ahead_ms = draw.randint(0, skew // timedelta(milliseconds=1))
    return publication._replace(
        event={**publication.event, "event_time": publication.event["event_time"] + ahead_ms}
    )


def measure(publication: Publication) -> Publication:
    """The event in a world with measures; all copies of an event are the same."""
    if publication.topic == PRODUCTS.name:
        return publication._replace(
            event={**publication.event, "measure": choose_measure(publication.event["sku"])}
        )
    if publication.topic not in (RECEIPTS.name, REFUNDS.name):
        return publication
    lines = [
        measure_line(line, of_id(publication.event["event_id"], f"line/{number}"))
        for number, line in enumerate(publication.event["lines"])
    ]
    return publication._replace(event={**publication.event, "lines": lines})


def measure_line(line: Event, draw: Random) -> Event:
    sold_by = choose_measure(line["sku"])
    if draw.random() < CONTRADICTING_SHARE:
        sold_by = draw.choice((None, *MEASURES))
    if sold_by is None:
        return line
    return {**line, "units": draw.choice((*UNITS, draw.randint(1, 5_000))), "measure": sold_by}


def choose_measure(sku: str) -> str | None:
    draw = of_id(sku, "measure")
    return draw.choice(MEASURES) if draw.random() < MEASURED_SHARE else None


def entry(publication: Publication) -> Entry:
    return Entry(
        partition=(publication.topic, publication.partition),
        key=publication.key.encode(),
        value=wire.encode_value(publication),
        published_ms=publication.published_ms,
        dirt=publication.dirt,
    )


def releases(rejected: Publication, chance: Random) -> Iterator[int]:
    """In how many ticks it is released, and perhaps once more."""
    if chance.random() < RELEASED.get(rejected.dirt, 0.0):
        yield chance.randint(1, RELEASE_TICKS_MAX)
        if chance.random() < TWICE_SHARE:
            yield chance.randint(1, RELEASE_TICKS_MAX)


def release(rejected: Publication, at_ms: int) -> Entry:
    """A release of the record, whose sequence is its offset: nobody else publishes."""
    place = rejected.topic, rejected.partition, rejected.sequence
    event = {
        "event_id": f"released/{'/'.join(map(str, place))}",
        "event_time": at_ms,
        "record_key": rejected.key,
        "topic": rejected.topic,
        "partition": rejected.partition,
        "offset": rejected.sequence,
        "original_event_id": rejected.event["event_id"],
        "original_event_time": rejected.event["event_time"],
        "value": wire.encode_value(rejected),
        "because": "the line was down",
    }
    record_key = encode_key(RELEASES, event)
    width = RELEASES.settings.partitions
    partition = RELEASES.name, choose_partition(record_key, width)
    return Entry(partition, record_key, encode(RELEASES, event), at_ms)


def draw_version(facts: Sequence[Publication], tick: int, chance: Random) -> Publication:
    """One of the facts becomes another; it is published in the world minute."""
    fact = chance.choice(facts)
    now_ms = to_tick_start_ms(tick) + chance.randrange(TICK_MS)
    effective_ms = now_ms + chance.randint(*(minutes * TICK_MS for minutes in NOTICE_MINUTES))
    changed = {
        **fact.event,
        **draw_change(fact, effective_ms, chance),
        "event_id": f"fact-{tick}",
        "event_time": min(now_ms, effective_ms),
        "effective_at": effective_ms,
    }
    return fact._replace(published_ms=now_ms, event=changed)


def draw_change(fact: Publication, effective_ms: int, chance: Random) -> Event:
    if fact.topic == PRICE_CHANGES.name:
        return {"price_cents": fact.event["price_cents"] * chance.choice((1, 3))}
    if fact.topic == PROMOTIONS.name:
        starts_ms = effective_ms + chance.randint(0, STARTS_MINUTES_MAX) * TICK_MS
        return {
            "starts_at": starts_ms,
            "ends_at": starts_ms + chance.randint(1, LASTS_MINUTES_MAX) * TICK_MS,
            "price_cents": chance.randint(0, fact.event["usual_price_cents"]),
        }
    if fact.topic == PRODUCTS.name:
        return {
            "unit_cost_cents": fact.event["unit_cost_cents"] + chance.randint(1, 100),
            "pack_size_units": chance.randint(1, 24),
            "lead_time_days": chance.randint(0, 5),
            "lead_time_hours": chance.randrange(24),
        }
    return {
        "latitude_microdegrees": fact.event["latitude_microdegrees"] + chance.randrange(3_000_000)
    }
