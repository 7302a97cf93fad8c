from collections import Counter
from dataclasses import replace
from hashlib import sha256

from contracts import (
    DIMENSIONS,
    HEARTBEATS,
    RECEIPTS,
    build_model,
    decode,
    encode,
    get_contract,
    holds_from,
)
from generators.parameters import create_parameters
from generators.ticks import ANNOUNCED_MS, TICK_MS, TICKS_PER_DAY, TICKS_PER_HOUR, to_tick_start_ms
from generators.wire import encode_value
from generators.world import World
from infra.settings import Settings
from ops.control.world_clock import WORLD
from tests.generators.worlds import (
    CLEAN,
    SMALL,
    STORE_IDS,
    publish_hours,
    remember,
    select_pages,
    to_published,
)

FIRST_HOURS = "b856ccee95213b14d6fa711e3561274629def9ca80c35ce0bdcaf11c954f2564"


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    """Another digest is another world: raise RULES."""
    digest = sha256()
    for record in publish_hours(3):
        place = record.published_ms, record.topic, record.partition, record.sequence, record.key
        digest.update(repr(place).encode() + encode_value(record))
    assert digest.hexdigest() == FIRST_HOURS


def test_another_seed_gives_another_world() -> None:
    other = publish_hours(3, replace(SMALL, seed=SMALL.seed + 1))
    same = set(map(to_published, other)) & set(map(to_published, publish_hours(3)))
    # Minutes end in every world.
    assert {publication.key for publication in same} == {WORLD.encode()}


def test_the_world_begins_with_catalog_and_full_shelves() -> None:
    [first, *_] = remember(SMALL).list_ticks(1)
    assert first[0].published_ms == ANNOUNCED_MS
    openings = sum(publication.event.get("reason") == "opening" for publication in first)
    assert SMALL.products < openings <= SMALL.products * SMALL.stores
    assert sum("opens_at_minute" in publication.event for publication in first) == SMALL.stores
    assert sum("unit_cost_cents" in publication.event for publication in first) == SMALL.products


def test_whatever_holds_was_announced_with_notice() -> None:
    announcements = [
        publication for publication in publish_hours(24) if publication.topic in DIMENSIONS
    ]
    assert {publication.topic for publication in announcements} == set(DIMENSIONS)
    for announcement in announcements:
        effective_ms = announcement.event["effective_at"]
        assert holds_from(effective_ms, announcement.published_ms) == effective_ms


def test_every_published_value_keeps_its_contract() -> None:
    for publication in publish_hours(8):
        of = get_contract(publication.topic)
        build_model(of).model_validate(decode(encode(of, publication.event)).value)


def test_a_tick_publishes_in_order_and_ends_with_a_heartbeat() -> None:
    """Within its minute, but for what holds when the world begins."""
    for tick, (*others, beat) in enumerate(remember(SMALL).list_ticks(5)):
        times = [publication.published_ms for publication in others]
        end_ms = to_tick_start_ms(tick + 1)
        assert times == sorted(times)
        assert all((end_ms - TICK_MS if tick else ANNOUNCED_MS) <= time <= end_ms for time in times)
        assert HEARTBEATS.name not in {publication.topic for publication in others}
        assert beat.topic == HEARTBEATS.name
        assert beat.event["event_time"] == beat.published_ms == end_ms


def test_nobody_takes_what_is_not_there_and_the_ledger_has_every_physical_movement() -> None:
    world = World(SMALL)
    physical: Counter[tuple[str, str]] = Counter()
    empty_shelves = 0
    for _ in range(36 * TICKS_PER_HOUR):
        for page in select_pages(world.tick()):
            for moved in page.event["movements"]:
                physical[page.key, moved["sku"]] += moved["physical_units"]
        for store_id in STORE_IDS:
            units = world.count_units(store_id)
            assert min(units.values()) >= 0
            assert all(physical[store_id, sku] == there for sku, there in units.items())
            empty_shelves += sum(not there for there in units.values())
    assert empty_shelves


def test_receipts_come_at_the_rate_asked_for_with_three_lines_on_average() -> None:
    asked = replace(CLEAN, stores=4, products=200, receipts_per_minute=6.0)
    world = World(asked)
    ticks = (world.tick() for _ in range(7 * TICKS_PER_DAY))
    receipts = [
        publication.event
        for tick in ticks
        for publication in tick
        if publication.topic == RECEIPTS.name
    ]
    lines = [len(receipt["lines"]) for receipt in receipts]
    assert 0.9 < len(lines) / (7 * TICKS_PER_DAY) / asked.receipts_per_minute < 1.1
    assert 2.8 < sum(lines) / len(lines) < 3.1


def test_receipts_per_second_are_meant_at_the_default_speed_at_any_pace() -> None:
    slow, fast = (
        create_parameters(Settings(simulator_receipts_per_second=20.0, simulator_speed=speed))
        for speed in (1.0, 500.0)
    )
    assert slow == fast
    wall_seconds_per_day = 24 * 3600 / Settings.model_fields["simulator_speed"].default
    assert slow.receipts_per_minute * TICKS_PER_DAY == 20.0 * wall_seconds_per_day


def test_two_worlds_are_told_apart_by_what_differs() -> None:
    other = replace(SMALL, seed=7)
    assert SMALL.find_differences(other.render()) == ("seed 1", "seed 7")
    assert SMALL.find_differences(SMALL.render()) == ("", "")
