import json
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.event import Counts, Publication
from generators.prices import PriceSet
from generators.resume import Logged, OtherWorld, Snapshots
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, START_MS, TICK_MS, TICKS_PER_HOUR
from generators.world import World
from ops.control.load import Load
from tests.generators.worlds import SMALL, live, to_published

HOURS = 4
TICKS = HOURS * TICKS_PER_HOUR
WORLD = replace(SMALL, seed=3, stores=2, products=12, receipts_per_minute=4.0)


@cache
def publish_uncut() -> tuple[tuple[Publication, ...], tuple[str, ...]]:
    """All that the world publishes, and its state as written down before every hour."""
    world, publications, states = World(WORLD), [], []
    for tick in range(TICKS):
        if tick % TICKS_PER_HOUR == 0:
            states.append(json.dumps(world.dump_state()))
        publications += world.tick()
    return tuple(publications), tuple(states)


def create_log(publications: Iterable[Publication]) -> Logged:
    ends = {(record.topic, record.partition): to_published(record) for record in publications}
    return Logged(ends)


def resume_world(log: Logged, states: Iterable[str]) -> World:
    """The world, taken up from the last state that is not ahead of the log."""
    world = World(WORLD)
    for text in states:
        state: dict[str, Any] = json.loads(text)
        if are_all_there(state["counts"], log.count_records(state["counts"])):
            world.restore(state)
    log.skip(world.counts)
    return world


def are_all_there(counts: Counts, there: Counts) -> bool:
    return all(a <= b for topic in counts for a, b in zip(counts[topic], there[topic], strict=True))


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


def test_a_restored_world_goes_on_with_its_prices_deliveries_returns_and_incidents() -> None:
    """From a state that has all of them open: a price decided, goods under way, goods to return."""
    uncut_world, again = World(SMALL), World(SMALL)
    live(uncut_world, 37)
    state: dict[str, Any] = json.loads(json.dumps(uncut_world.dump_state()))
    assert state["prices"]["ahead"]
    assert state["incidents"]["ahead"]
    assert all(shop["returns"] for shop in state["shops"])
    assert any(shop["shelves"]["supply"]["underway"] for shop in state["shops"])
    again.restore(state)
    assert live(again, 51) == live(uncut_world, 51)


HEARD = (
    Confirmed(
        "PO-1", "S000", "SKU-00000", 24, 12, START_MS + 150 * TICK_MS, START_MS + 4 * HOUR_MS
    ),
    PriceSet("now", "SKU-00000", 99, START_MS),
    PriceSet("later", "SKU-00001", 99, START_MS + 200 * TICK_MS),
    Load("all", 12_000, 30_000, ["S001"], {"SKU-00003": 700}),
)


def test_a_restored_world_goes_on_with_all_that_it_has_heard() -> None:
    parameters = replace(SMALL, refill="orders")
    world, again = World(parameters), World(parameters)
    live(world, 2, {80: HEARD})
    again.restore(json.loads(json.dumps(world.dump_state())))
    assert again.load == HEARD[-1]
    assert live(again, 6) == live(world, 6)


LOG = {"sales": [100, 100]}


def create_state(tick: int, count: int = 0) -> dict[str, object]:
    return {"next_tick": tick, "counts": {"sales": [count, 0]}}


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path, "a world")


def test_the_newest_state_that_is_not_ahead_of_the_log_is_taken_up_and_two_are_kept(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    assert snapshots.find_newest(LOG) is None
    snapshots.save(create_state(240))
    snapshots.save(create_state(480, count=100))
    assert snapshots.find_newest(LOG) == create_state(480, count=100)
    snapshots.save(create_state(720, count=101))
    assert snapshots.find_newest(LOG) == create_state(480, count=100)
    assert len(list(tmp_path.iterdir())) == 2
    assert Snapshots(tmp_path, "another world").find_newest({"sales": [200, 200]}) is None


def test_a_crash_while_writing_leaves_the_states_before(
    snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.save(create_state(240))

    def crash(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="no space left"):
        snapshots.save(create_state(480))
    assert snapshots.find_newest(LOG) == create_state(240)


def test_a_broken_state_gives_way_to_the_one_before(snapshots: Snapshots, tmp_path: Path) -> None:
    snapshots.save(create_state(240))
    snapshots.save(create_state(480))
    newest = max(tmp_path.iterdir())
    newest.write_text(newest.read_text()[:-5])
    assert snapshots.find_newest(LOG) == create_state(240)
