"""The load that is turned while the world runs, from a minute on."""

from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from generators.event import Publication
from generators.ticks import TICKS_PER_HOUR, to_tick_start_ms
from generators.world import World
from ops.control.load import Load
from tests.generators.worlds import CLEAN, SMALL, live

BUSY = replace(CLEAN, receipts_per_minute=60.0, overstock_share=1.0, refill="orders")
"""So much lies there that what is wanted is sold."""
TURN_TICK, HOURS = 90, 5
TURN_MS = to_tick_start_ms(TURN_TICK)
TWICE = Load("twice", receipts_milli=20_000)  # 120 a minute, at ten times the wall's time

Heard = Mapping[int, Sequence[Load]]
"""By tick."""


def split(heard: Heard) -> tuple[list[Publication], list[Publication]]:
    """What comes before the turn, and from it on."""
    publications = live(World(BUSY), HOURS, heard)
    before = [record for record in publications if record.published_ms < TURN_MS]
    return before, publications[len(before) :]


def count_receipts(publications: Sequence[Publication]) -> Counter[str]:
    """By store."""
    return Counter(record.key for record in publications if record.topic == RECEIPTS.name)


def test_another_rate_holds_from_its_minute_on_and_until_it_is_turned_again() -> None:
    before, usual = split({})
    back = Load("back")
    before_turn, turned = split({TURN_TICK: [TWICE], 4 * TICKS_PER_HOUR: [back]})
    assert before_turn == before
    for first_tick, until_tick, factor in ((90, 120, 2), (120, 240, 2), (240, 300, 1)):
        begin_ms, end_ms = map(to_tick_start_ms, (first_tick, until_tick))
        expected, found = (
            count_receipts([r for r in records if begin_ms <= r.published_ms < end_ms]).total()
            for records in (usual, turned)
        )
        assert found == pytest.approx(factor * expected, rel=0.25)


def test_a_quiet_store_does_nothing_at_its_tills_and_shelves_and_then_speaks_again() -> None:
    """Vans with what was ordered before still come."""
    quiet_tick, loud_tick = 330, 600
    quiet = Load("quiet", quiet_stores=["S000", "S999"])
    parameters = replace(SMALL, receipts_per_minute=30.0, fraud_rate=0.05)
    published = live(World(parameters), 14, {quiet_tick: [quiet], loud_tick: [Load("loud")]})
    edges = [*map(to_tick_start_ms, (quiet_tick, loud_tick))]
    counts = Counter(
        (event["store_id"], record.topic, bisect(edges, event["event_time"]))
        for record in published
        if {"store_id", "event_time"} <= (event := record.event).keys()
    )
    for topic in (RECEIPTS.name, REFUNDS.name, ADJUSTMENTS.name):
        assert all(counts["S001", topic, part] for part in range(3))
        assert [counts["S000", topic, part] > 0 for part in range(3)] == [True, False, True]
    assert counts["S000", SHIPMENTS.name, 1]


def test_a_hit_is_wanted_more_from_its_minute_on_and_others_as_before() -> None:
    sku, factor = "SKU-00000", 8
    before, usual = split({})
    hit = Load("hit", hits={sku: 100 * factor, "SKU-99999": 500})
    before_turn, turned = split({TURN_TICK: [hit]})
    assert before_turn == before
    expected, found = map(sum_units, (usual, turned))
    assert found.pop(sku) == pytest.approx(factor * expected.pop(sku), rel=0.1)
    assert found == expected


def sum_units(publications: Sequence[Publication]) -> Counter[str]:
    """By sku."""
    units: Counter[str] = Counter()
    for record in publications:
        if record.topic == RECEIPTS.name:
            for line in record.event["lines"]:
                units[line["sku"]] += line["units"]
    return units


def test_speed_is_no_part_of_the_world() -> None:
    assert split({TURN_TICK: [Load("fast", speed_milli=30_000)]}) == split({})
