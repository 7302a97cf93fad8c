import os
import pickle
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.event import Publication
from generators.prices import PriceSet
from generators.resume import Logged, OtherWorld, Snapshots
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, START_MS, TICK_MS, TICKS_PER_HOUR, to_tick_start_ms
from generators.world import World
from ops.control.load import Load
from tests.generators.worlds import SMALL, live, to_published

HOURS = 4
TICKS = HOURS * TICKS_PER_HOUR
WORLD = replace(SMALL, seed=3, stores=2, products=12, receipts_per_minute=4.0)


@cache
def publish_uncut() -> tuple[tuple[Publication, ...], tuple[bytes, ...]]:
    """All that the world publishes, and its state as written down before every hour."""
    world, publications, states = World(WORLD), [], []
    for tick in range(TICKS):
        if tick % TICKS_PER_HOUR == 0:
            states.append(pickle.dumps(world))
        publications += world.tick()
    return tuple(publications), tuple(states)


def create_log(publications: Iterable[Publication]) -> Logged:
    ends = {(record.topic, record.partition): to_published(record) for record in publications}
    return Logged(ends)


def resume_world(log: Logged, states: Iterable[bytes]) -> World:
    """The world, taken up from the last state that is not ahead of the log."""
    world = World(WORLD)
    for state in states:
        then: World = pickle.loads(state)
        if log.holds(then.counts):
            world = then
    log.skip(world.counts)
    return world


def publish_rest(world: World, log: Logged) -> list[Publication]:
    ticks = range(world.next_tick, TICKS)
    return [publication for _ in ticks for publication in log.select_missing(world.tick())]


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_cut_anywhere_the_log_gets_exactly_what_it_lacks(data: st.DataObject) -> None:
    """The cut may be within a tick, and a partition's last records may not have been taken."""
    publications, states = publish_uncut()
    cut = data.draw(st.integers(0, len(publications)), label="records sent")
    kept_states = data.draw(st.integers(0, len(states)), label="states on disk")
    places = sorted({(record.topic, record.partition) for record in publications})
    partitions = st.sampled_from(places)
    counts = st.dictionaries(partitions, st.integers(1, 30))
    refused = data.draw(counts, label="records not taken, by partition")
    there: list[Publication] = []
    lacking: list[Publication] = []
    sent = publications[:cut]
    ends = {(record.topic, record.partition): record.sequence for record in sent}
    for index, publication in enumerate(publications):
        where = publication.topic, publication.partition
        taken = publication.sequence <= ends.get(where, -1) - refused.get(where, 0)
        (there if index < cut and taken else lacking).append(publication)
    log = create_log(there)
    assert publish_rest(resume_world(log, states[:kept_states]), log) == lacking


def test_another_world_s_log_is_refused_and_the_way_out_is_named() -> None:
    publications, _ = publish_uncut()
    with pytest.raises(OtherWorld, match="make reset"):
        publish_rest(World(replace(WORLD, seed=4)), create_log(publications))


HEARD = (
    Confirmed(
        "PO-1", "S000", "SKU-00000", 24, 12, START_MS + 150 * TICK_MS, START_MS + 4 * HOUR_MS
    ),
    PriceSet("now", "SKU-00000", 99, START_MS),
    PriceSet("later", "SKU-00001", 99, START_MS + 200 * TICK_MS),
    Load("all", 12_000, 30_000, ["S001"], {"SKU-00003": 700}),
)


def test_a_restored_world_goes_on_with_all_that_it_has_begun_and_heard() -> None:
    parameters = replace(SMALL, refill="orders")
    world = World(parameters)
    live(world, 2, {80: HEARD})
    for hours in (6, 40):
        again: World = pickle.loads(pickle.dumps(world))
        assert again.load == HEARD[-1]
        assert live(again, hours) == live(world, hours)


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path, "a world")


def live_until(tick: int) -> World:
    world = World(WORLD)
    while world.next_tick < tick:
        world.tick()
    return world


def find_tick(snapshots: Snapshots, log: Logged) -> int | None:
    world = snapshots.find_newest(log)
    return None if world is None else world.next_tick


def test_the_newest_state_that_is_not_ahead_of_the_log_is_taken_up_and_two_are_kept(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    publications, _ = publish_uncut()
    log = create_log(publications)
    assert find_tick(snapshots, log) is None
    for tick in (10, 20, 30):
        snapshots.save(live_until(tick))
        assert find_tick(snapshots, log) == tick
    assert len(list(tmp_path.iterdir())) == 2
    behind = [record for record in publications if record.published_ms < to_tick_start_ms(25)]
    assert find_tick(snapshots, create_log(behind)) == 20
    assert find_tick(Snapshots(tmp_path, "another world"), log) is None


def test_a_crash_while_writing_leaves_the_states_before(
    snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.save(live_until(10))

    def crash(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="no space left"):
        snapshots.save(live_until(20))
    assert find_tick(snapshots, create_log(publish_uncut()[0])) == 10


def test_a_broken_state_gives_way_to_the_one_before(snapshots: Snapshots, tmp_path: Path) -> None:
    snapshots.save(live_until(10))
    snapshots.save(live_until(20))
    newest = max(tmp_path.iterdir())
    newest.write_bytes(newest.read_bytes()[:-5])
    assert find_tick(snapshots, create_log(publish_uncut()[0])) == 10
